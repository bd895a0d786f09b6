// Serves a store for `rocktune watch`: threads do a fixed number of operations a second, whose share of
// lookups stands in a file, while an OptionsWatcher applies the watched file. Ends with its standard input,
// and prints how many operations were done and how many failed.
//
//   served_store_bench DIRECTORY MIX_FILE OPERATIONS_PER_SECOND [SETTINGS]
//
// SETTINGS is a JSON object with fields of ServedStore.

#include <poll.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/io_cause.h"
#include "rocktune/options_watcher.h"
#include "rocktune/throttled_file_system.h"
#include "rocktune/util/rocksdb_compat.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kTick = std::chrono::milliseconds(20);
// Load that is later than this is dropped, so that a stall is not followed by a burst of the same length.
constexpr auto kMaxDelay = std::chrono::seconds(1);

struct ServedStore {
  std::string options;  // in the form of GetOptionsFromString
  std::uint64_t cache_bytes = 128 << 20;
  std::uint64_t bandwidth_bytes_s = 0;  // of the device; 0 for no limit
  std::uint64_t keys = 100'000;
  std::uint64_t value_bytes = 200;
  std::uint64_t threads = 1;
  unsigned dump_s = 1;  // seconds between two dumps of statistics
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ServedStore, options, cache_bytes, bandwidth_bytes_s, keys,
                                                value_bytes, threads, dump_s)

// Prints the status and ends the program if it is not OK.
void Require(const rocksdb::Status& status, const std::string& what) {
  if (!status.ok()) {
    std::cerr << what << ": " << status.ToString() << "\n";
    std::exit(1);
  }
}

bool InputHasEnded() {
  pollfd input{0, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

double ShareOfLookups(const char* path, double last) {
  double share = last;
  std::ifstream(path) >> share;
  return share;
}

std::string Key(std::uint64_t number) {
  std::string key = std::to_string(number);
  return std::string(16 - key.size(), '0') + key;
}

// Values of random bytes, which compression does not make smaller.
class Values {
 public:
  explicit Values(std::uint64_t value_bytes) : value_bytes_(value_bytes), bytes_(value_bytes + (1 << 20)) {
    std::mt19937_64 random(1);
    std::generate(bytes_.begin(), bytes_.end(), [&] { return static_cast<char>(random()); });
  }

  rocksdb::Slice Next(std::uint64_t number) const {
    return {bytes_.data() + number % (bytes_.size() - value_bytes_), value_bytes_};
  }

 private:
  const std::uint64_t value_bytes_;
  std::vector<char> bytes_;
};

// The operations of all threads, from its construction until Join.
class Load {
 public:
  Load(rocksdb::DB* db, const ServedStore& store, const char* mix, double operations_per_second)
      : db_(db), store_(store), mix_(mix), values_(store.value_bytes) {
    const auto threads = static_cast<double>(store.threads);
    const double seconds = std::chrono::duration<double>(kTick).count();
    const auto each = static_cast<std::uint64_t>(operations_per_second * seconds / threads);
    for (std::uint64_t thread = 0; thread < store.threads; ++thread) {
      threads_.emplace_back([this, thread, each] { Run(thread, each); });
    }
  }

  // Waits until the program's input has ended.
  void Join() {
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  std::uint64_t done() const { return done_; }
  std::uint64_t failed() const { return failed_; }

 private:
  void Run(std::uint64_t seed, std::uint64_t each) {
    std::mt19937_64 random(seed);
    std::string found;
    double share = 0;
    for (auto next = Clock::now(); !InputHasEnded();
         next = std::max(next + kTick, Clock::now() - kMaxDelay)) {
      share = ShareOfLookups(mix_, share);
      for (std::uint64_t operation = 0; operation < each; ++operation) {
        const std::string key = Key(random() % store_.keys);
        const bool looks_up = static_cast<double>(random() % 1000) < 1000 * share;
        const rocksdb::Status status =
            looks_up ? db_->Get({}, key, &found) : db_->Put({}, key, values_.Next(random()));
        failed_ += status.ok() ? 0 : 1;
        ++done_;
      }
      std::this_thread::sleep_until(next + kTick);
    }
  }

  rocksdb::DB* const db_;
  const ServedStore& store_;
  const char* const mix_;
  const Values values_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::vector<std::thread> threads_;
};

rocksdb::Options OptionsOf(const ServedStore& store, rocksdb::Env* env) {
  rocksdb::Options options;
  rocksdb::Options given;
  Require(rocksdb::GetOptionsFromString(rocksdb::ConfigOptions(), options, store.options, &given), "options");
  given.create_if_missing = true;
  given.env = env;
  given.listeners.push_back(rocktune::NewThreadRoleListener());
  given.statistics = rocksdb::CreateDBStatistics();
  given.stats_dump_period_sec = store.dump_s;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(store.cache_bytes);
  given.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return given;
}

// Makes a store with all keys, loaded in order. Its opening ends here, so that the load is no part of the
// statistics of the one that serves.
void Preload(rocksdb::Options options, const std::string& directory, const ServedStore& store) {
  options.stats_dump_period_sec = 0;
  std::unique_ptr<rocksdb::DB> db;
  Require(rocktune::OpenDatabase(options, directory, &db), "open");
  const Values values(store.value_bytes);
  for (std::uint64_t number = 0; number < store.keys; ++number) {
    Require(db->Put({}, Key(number), values.Next(number * 7919)), "load");
  }
  Require(db->Flush({}), "flush");
  Require(db->Close(), "close");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::cerr << "usage: " << argv[0] << " DIRECTORY MIX_FILE OPERATIONS_PER_SECOND [SETTINGS]\n";
    return 2;
  }
  const ServedStore store = nlohmann::json::parse(argc > 4 ? argv[4] : "{}");
  const auto files = rocktune::ThrottledFileSystem::Create(rocksdb::FileSystem::Default(),
                                                           {.bandwidth_bytes_s = store.bandwidth_bytes_s});
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
  files->SetThrottled(false);
  Preload(OptionsOf(store, env.get()), argv[1], store);
  files->SetThrottled(true);
  std::unique_ptr<rocksdb::DB> db;
  Require(rocktune::OpenDatabase(OptionsOf(store, env.get()), argv[1], &db), "open");
  std::unique_ptr<rocktune::OptionsWatcher> watcher;
  Require(rocktune::OptionsWatcher::Start(db.get(), {}, {}, &watcher), "watch");
  Load load(db.get(), store, argv[2], std::stod(argv[3]));
  load.Join();
  watcher.reset();  // before Close
  Require(db->Close(), "close");
  std::cout << load.done() << " " << load.failed() << "\n";
  return 0;
}
