// Measures what a get and a put cost in an FLSM store and in stock RocksDB on a copy of the same tables: CPU
// time of the calling thread, in pairs of blocks with the same keys. The copy is not compacted, and nothing
// is flushed meanwhile, so that both have the same shape throughout.
//
//   flsm_serving_bench DIRECTORY [PAIRS]
//
// Prints one JSON document: for "get" and "put" a list of pairs, nanoseconds per operation of the store's and
// of the stock database's.

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "rocktune/flsm_store.h"
#include "rocktune/util/rocksdb_compat.h"

namespace {

constexpr uint64_t kKeys = 400'000;
constexpr uint64_t kGets = 100'000;  // of a block
constexpr uint64_t kPuts = 20'000;
constexpr std::size_t kValueBytes = 100;
constexpr std::size_t kLoadBufferBytes = 4 << 20;
constexpr std::size_t kServingBufferBytes = 512 << 20;  // holds all puts

void Check(const rocksdb::Status& status) {
  if (!status.ok()) {
    throw std::runtime_error(status.ToString());
  }
}

// Returns the i-th key of a sequence that visits all keys in an irregular order.
std::string KeyAt(uint64_t i) {
  char key[17];
  std::snprintf(key, sizeof key, "%016llu", static_cast<unsigned long long>(i * 2'654'435'761U % kKeys));
  return key;
}

rocksdb::Options StoreOptions(std::size_t buffer_bytes) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = buffer_bytes;
  options.compression = rocksdb::kNoCompression;
  return options;
}

rocktune::FlsmOptions Layout() {
  rocktune::FlsmOptions layout;
  layout.size_ratio = 10;
  layout.levels = 5;
  layout.level1_bytes = 10 * kLoadBufferBytes;
  layout.policies = {1};
  return layout;
}

void Fill(const std::string& directory, const std::string& copy) {
  std::unique_ptr<rocktune::FlsmStore> store;
  Check(rocktune::FlsmStore::Open(StoreOptions(kLoadBufferBytes), Layout(), directory, &store));
  const std::string value(kValueBytes, 'v');
  for (uint64_t i = 0; i < kKeys; ++i) {
    Check(store->Put({}, KeyAt(i), value));
  }
  Check(store->Flush({}));
  Check(store->WaitUntilSettled());
  rocksdb::Checkpoint* checkpoint = nullptr;
  Check(rocksdb::Checkpoint::Create(store.get(), &checkpoint));
  const std::unique_ptr<rocksdb::Checkpoint> owned(checkpoint);
  Check(checkpoint->CreateCheckpoint(copy));
}

double ThreadNanoseconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

// Returns the CPU nanoseconds per operation of a block that begins with the operation `first`.
double Timed(uint64_t first, uint64_t operations, const std::function<void(uint64_t)>& perform) {
  const double begin = ThreadNanoseconds();
  for (uint64_t i = first; i < first + operations; ++i) {
    perform(i);
  }
  return (ThreadNanoseconds() - begin) / static_cast<double>(operations);
}

double Gets(rocksdb::DB* db, uint64_t first) {
  rocksdb::PinnableSlice value;
  return Timed(first, kGets, [&](uint64_t i) {
    Check(db->Get({}, db->DefaultColumnFamily(), KeyAt(i), &value));
    value.Reset();
  });
}

double Puts(rocksdb::DB* db, uint64_t first) {
  const std::string value(kValueBytes, 'w');
  return Timed(first, kPuts, [&](uint64_t i) { Check(db->Put({}, KeyAt(i), value)); });
}

using Block = double (*)(rocksdb::DB*, uint64_t);

// Returns pairs of blocks, the store and the stock database first in turn. The first pair warms the caches up
// and is left out.
nlohmann::json Pairs(rocksdb::DB* store, rocksdb::DB* stock, uint64_t pairs, uint64_t operations,
                     Block block) {
  nlohmann::json times = nlohmann::json::array();
  for (uint64_t pair = 0; pair <= pairs; ++pair) {
    double store_ns = 0;
    double stock_ns = 0;
    if (pair % 2 == 0) {
      store_ns = block(store, pair * operations);
      stock_ns = block(stock, pair * operations);
    } else {
      stock_ns = block(stock, pair * operations);
      store_ns = block(store, pair * operations);
    }
    if (pair > 0) {
      times.push_back({store_ns, stock_ns});
    }
  }
  return times;
}

int Run(const std::string& directory, uint64_t pairs) {
  const std::string copy = directory + "-copy";
  Fill(directory, copy);
  rocksdb::Options stock_options;
  Check(rocktune::LoadStockOptions(copy, &stock_options));
  stock_options.write_buffer_size = kServingBufferBytes;
  stock_options.disable_auto_compactions = true;
  // Without a policy RocksDB does not read filters.
  auto* table = stock_options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  table->filter_policy.reset(rocksdb::NewBloomFilterPolicy(8));
  std::unique_ptr<rocksdb::DB> stock;
  Check(rocktune::OpenDatabase(stock_options, copy, &stock));
  std::unique_ptr<rocktune::FlsmStore> store;
  Check(rocktune::FlsmStore::Open(StoreOptions(kServingBufferBytes), Layout(), directory, &store));
  const nlohmann::json document = {{"engine", rocktune::RocksDbVersion()},
                                   {"assertions", rocktune::RocksDbAssertionsOn()},
                                   {"get", Pairs(store.get(), stock.get(), pairs, kGets, Gets)},
                                   {"put", Pairs(store.get(), stock.get(), pairs, kPuts, Puts)}};
  std::puts(document.dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: flsm_serving_bench DIRECTORY [PAIRS]\n", stderr);
    return 2;
  }
  try {
    return Run(argv[1], argc > 2 ? std::stoull(argv[2]) : 20);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flsm_serving_bench: %s\n", error.what());
    return 1;
  }
}
