// Serves a store for `rocktune watch`: one thread does a fixed number of operations a second, whose share of
// lookups stands in a file, while an OptionsWatcher applies the watched file. Ends with its standard input,
// and prints how many operations were done and how many failed.
//
//   served_store_bench DIRECTORY MIX_FILE OPERATIONS_PER_SECOND [WRITE_BUFFER_BYTES CACHE_BYTES]

#include <poll.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "rocktune/options_watcher.h"
#include "rocktune/util/rocksdb_compat.h"

namespace {

constexpr std::uint64_t kKeys = 100'000;
constexpr auto kTick = std::chrono::milliseconds(20);

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

double ShareOfLookups(const char* path) {
  double share = 0;
  std::ifstream(path) >> share;
  return share;
}

std::string Key(std::uint64_t number) {
  std::string key = std::to_string(number);
  return std::string(16 - key.size(), '0') + key;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: " << argv[0]
              << " DIRECTORY MIX_FILE OPERATIONS_PER_SECOND [WRITE_BUFFER_BYTES CACHE_BYTES]\n";
    return 2;
  }
  rocksdb::Options options;
  options.create_if_missing = true;
  options.statistics = rocksdb::CreateDBStatistics();
  options.stats_dump_period_sec = 1;
  if (argc > 4) {
    options.write_buffer_size = std::stoul(argv[4]);
  }
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(argc > 5 ? std::stoul(argv[5]) : 128 << 20);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  std::unique_ptr<rocksdb::DB> db;
  Require(rocktune::OpenDatabase(options, argv[1], &db), "open");
  const std::string value(200, 'v');
  for (std::uint64_t number = 0; number < kKeys; ++number) {
    Require(db->Put({}, Key(number), value), "load");
  }
  Require(db->Flush({}), "flush");
  std::unique_ptr<rocktune::OptionsWatcher> watcher;
  Require(rocktune::OptionsWatcher::Start(db.get(), {}, {}, &watcher), "watch");

  std::mt19937_64 random(1);
  const auto each =
      static_cast<std::uint64_t>(std::stod(argv[3]) * std::chrono::duration<double>(kTick).count());
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::string found;
  for (auto next = std::chrono::steady_clock::now(); !InputHasEnded(); next += kTick) {
    const double share = ShareOfLookups(argv[2]);
    for (std::uint64_t operation = 0; operation < each; ++operation, ++done) {
      const std::string key = Key(random() % kKeys);
      const bool looks_up = static_cast<double>(random() % 1000) < 1000 * share;
      failed += (looks_up ? db->Get({}, key, &found) : db->Put({}, key, value)).ok() ? 0 : 1;
    }
    std::this_thread::sleep_until(next + kTick);
  }
  watcher.reset();  // before Close
  Require(db->Close(), "close");
  std::cout << done << " " << failed << "\n";
  return 0;
}
