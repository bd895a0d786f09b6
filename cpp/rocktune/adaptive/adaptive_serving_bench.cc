// Counts the locks and allocations of gets and puts in an FLSM store and in an adaptive store, whose
// controller decides meanwhile, and measures the CPU time of the controller's thread.
//
//   adaptive_serving_bench DIRECTORY [SECONDS]
//
// Counted is what the calling thread does, RocksDB's part included: this program replaces operator new and
// the locks of pthread. Both stores perform the same operations on the same data, and nothing is left to
// chance: all blocks are cached, and memtables are vectors, since heights in a skip list are random.
//
// Prints one JSON document: in "get" and "put" the counts by store, in "probe" those of one lock and one
// allocation, in "cpu" the CPU time by the length of missions, each at full speed for SECONDS.

#include <dlfcn.h>
#include <pthread.h>
#include <rocksdb/cache.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "rocktune/adaptive_store.h"
#include "rocktune/util/rocksdb_compat.h"

namespace {

struct Counts {
  uint64_t locks = 0;
  uint64_t allocations = 0;

  Counts operator-(const Counts& before) const {
    return {locks - before.locks, allocations - before.allocations};
  }
};

thread_local Counts counted;  // of this thread

template <typename Function>
Function Replaced(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void* Allocate(std::size_t bytes, std::size_t alignment) {
  ++counted.allocations;
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes) != 0) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto kReplaced = Replaced<decltype(&pthread_mutex_lock)>("pthread_mutex_lock");
  ++counted.locks;
  return kReplaced(mutex);
}
extern "C" int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static const auto kReplaced = Replaced<decltype(&pthread_mutex_trylock)>("pthread_mutex_trylock");
  ++counted.locks;
  return kReplaced(mutex);
}
extern "C" int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  static const auto kReplaced = Replaced<decltype(&pthread_rwlock_rdlock)>("pthread_rwlock_rdlock");
  ++counted.locks;
  return kReplaced(lock);
}
extern "C" int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  static const auto kReplaced = Replaced<decltype(&pthread_rwlock_wrlock)>("pthread_rwlock_wrlock");
  ++counted.locks;
  return kReplaced(lock);
}

// The other forms of new call these two.
void* operator new(std::size_t bytes) { return Allocate(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return Allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

constexpr uint64_t kKeys = 100'000;
constexpr uint64_t kBlock = 1000;  // operations
constexpr uint64_t kBlocks = 40;
constexpr uint64_t kBlocksOfAMission = 5;
constexpr uint64_t kMissionOperations = 500;
constexpr std::size_t kValueBytes = 100;
constexpr std::size_t kBufferBytes = 4 << 20;
constexpr std::size_t kCountingBufferBytes = 512 << 20;  // holds all counted puts
constexpr std::size_t kCacheBytes = 256 << 20;           // holds all blocks
constexpr double kSessionS = 1;                          // between changes of the workload

void Check(const rocksdb::Status& status) {
  if (!status.ok()) {
    throw std::runtime_error(status.ToString());
  }
}

using Key = std::array<char, 17>;

// Writes the i-th key of a sequence that visits all keys in an irregular order.
rocksdb::Slice KeyAt(uint64_t i, Key* key) {
  std::snprintf(key->data(), key->size(), "%016llu",
                static_cast<unsigned long long>(i * 2'654'435'761U % kKeys));
  return {key->data(), key->size() - 1};
}

rocksdb::Options StoreOptions(std::size_t buffer_bytes) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = buffer_bytes;
  options.compression = rocksdb::kNoCompression;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// Returns the options of stores whose operations are counted.
rocksdb::Options CountingOptions() {
  rocksdb::Options options = StoreOptions(kCountingBufferBytes);
  options.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
  options.allow_concurrent_memtable_write = false;  // vectors allow no other way
  return options;
}

rocktune::FlsmOptions Layout() {
  rocktune::FlsmOptions layout = rocktune::AdaptiveLayout();
  layout.level1_bytes = 2 * kBufferBytes;
  layout.sample_every = 1;  // each operation is measured
  return layout;
}

void Get(rocksdb::DB* db, uint64_t i) {
  Key key;
  rocksdb::PinnableSlice value;
  Check(db->Get(rocksdb::ReadOptions(), db->DefaultColumnFamily(), KeyAt(i, &key), &value));
}

void Put(rocksdb::DB* db, uint64_t i) {
  static const std::string kValue(kValueBytes, 'v');
  Key key;
  Check(db->Put(rocksdb::WriteOptions(), KeyAt(i, &key), kValue));
}

using Operation = void (*)(rocksdb::DB*, uint64_t);
using AfterBlock = std::function<void(uint64_t)>;

// Returns the counts of all blocks of operations. Calls `after` with the number of each; it is not counted.
nlohmann::json CountsOf(rocksdb::DB* db, Operation operation, const AfterBlock& after) {
  Counts sum;
  for (uint64_t block = 0; block < kBlocks; ++block) {
    const Counts before = counted;
    for (uint64_t i = block * kBlock; i < (block + 1) * kBlock; ++i) {
      operation(db, i);
    }
    const Counts of_block = counted - before;
    sum.locks += of_block.locks;
    sum.allocations += of_block.allocations;
    after(block);
  }
  return {{"locks", sum.locks}, {"allocations", sum.allocations}};
}

nlohmann::json WithoutController(const std::string& directory, Operation operation) {
  std::unique_ptr<rocktune::FlsmStore> store;
  Check(rocktune::FlsmStore::Open(CountingOptions(), Layout(), directory, &store));
  CountsOf(store.get(), Get, [](uint64_t) {});  // fills the cache
  nlohmann::json counts = CountsOf(store.get(), operation, [](uint64_t) {});
  Check(store->Close());
  return counts;
}

nlohmann::json WithController(const std::string& directory, Operation operation) {
  rocktune::AdaptiveOptions adaptive;
  adaptive.layout = Layout();
  adaptive.mission_operations = kMissionOperations;
  std::unique_ptr<rocktune::AdaptiveStore> store;
  Check(rocktune::AdaptiveStore::Open(CountingOptions(), adaptive, directory, &store));
  CountsOf(store->store(), Get, [](uint64_t) {});
  const uint64_t missions = store->Missions();
  uint64_t seen = missions;
  nlohmann::json counts = CountsOf(store->store(), operation, [&store, &seen](uint64_t block) {
    if (block % kBlocksOfAMission == 0) {
      // The controller has to decide now and then. It has seen operations enough for that.
      while (store->Missions() == seen) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      seen = store->Missions();
    }
  });
  counts["missions"] = store->Missions() - missions;
  Check(store->Close());
  return counts;
}

// Counts an operation on two stores made in the same way.
nlohmann::json Compare(const std::string& directory, Operation operation) {
  const auto filled = [&directory](const char* name) {
    std::string path = directory + "/" + name;
    std::unique_ptr<rocktune::FlsmStore> store;
    Check(rocktune::FlsmStore::Open(StoreOptions(kBufferBytes), Layout(), path, &store));
    for (uint64_t i = 0; i < kKeys; ++i) {
      Put(store.get(), i);
    }
    Check(store->Flush({}));
    Check(store->WaitUntilSettled());
    Check(store->Close());
    return path;
  };
  const std::string path = filled("filled");
  std::filesystem::copy(path, directory + "/copy");
  nlohmann::json document = {{"operations", kBlocks * kBlock},
                             {"flsm", WithoutController(path, operation)},
                             {"adaptive", WithController(directory + "/copy", operation)}};
  std::filesystem::remove_all(path);
  std::filesystem::remove_all(directory + "/copy");
  return document;
}

// Returns what the probe counts for one lock and one allocation.
nlohmann::json Probe() {
  std::mutex mutex;
  const Counts before = counted;
  mutex.lock();
  mutex.unlock();
  const std::unique_ptr<uint64_t> made = std::make_unique<uint64_t>(before.locks);
  const Counts seen = counted - before;
  return {{"locks", seen.locks}, {"allocations", seen.allocations}};
}

// Serves at full speed, mostly reads and mostly writes in turn.
nlohmann::json ControllerCpu(const std::string& directory, uint64_t mission_operations, double seconds) {
  rocktune::AdaptiveOptions adaptive;
  adaptive.mission_operations = mission_operations;
  std::unique_ptr<rocktune::AdaptiveStore> store;
  Check(rocktune::AdaptiveStore::Open(StoreOptions(kBufferBytes), adaptive, directory, &store));
  for (uint64_t i = 0; i < kKeys; ++i) {
    Put(store->store(), i);
  }
  std::mt19937_64 random(1);
  const auto begun = std::chrono::steady_clock::now();
  const auto passed_s = [&begun] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  const uint64_t cpu_before = store->ControllerCpuNs();
  const uint64_t missions_before = store->Missions();
  uint64_t operations = 0;
  for (; passed_s() < seconds; operations += kBlock) {
    const uint64_t reads_of_100 = static_cast<uint64_t>(passed_s() / kSessionS) % 2 == 0 ? 90 : 10;
    for (uint64_t i = 0; i < kBlock; ++i) {
      const uint64_t drawn = random();
      (drawn % 100 < reads_of_100 ? Get : Put)(store->store(), drawn >> 32);
    }
  }
  nlohmann::json found = {{"mission_operations", mission_operations},
                          {"seconds", passed_s()},
                          {"operations", operations},
                          {"missions", store->Missions() - missions_before},
                          {"controller_cpu_s", (store->ControllerCpuNs() - cpu_before) / 1e9},
                          {"decisions", store->Log().size()}};
  Check(store->Close());
  std::filesystem::remove_all(directory);
  return found;
}

int Run(const std::string& directory, double seconds) {
  std::filesystem::create_directories(directory);
  nlohmann::json cpu = nlohmann::json::array();
  for (const uint64_t mission_operations : {50'000, 1'000}) {
    cpu.push_back(ControllerCpu(directory + "/cpu", mission_operations, seconds));
  }
  const nlohmann::json document = {{"engine", rocktune::RocksDbVersion()},
                                   {"assertions", rocktune::RocksDbAssertionsOn()},
                                   {"probe", Probe()},
                                   {"get", Compare(directory, Get)},
                                   {"put", Compare(directory, Put)},
                                   {"cpu", cpu}};
  std::puts(document.dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: adaptive_serving_bench DIRECTORY [SECONDS]\n", stderr);
    return 2;
  }
  try {
    return Run(argv[1], argc > 2 ? std::stod(argv[2]) : 60);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "adaptive_serving_bench: %s\n", error.what());
    return 1;
  }
}
