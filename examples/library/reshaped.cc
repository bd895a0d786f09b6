// Fills an FLSM store with leveled levels, changes level 1 to tiering while the store is open, and prints the
// tree's shape before and after, and statistics of each level.
//
//   ./reshaped DIRECTORY

#include <rocksdb/options.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>

#include "rocktune/flsm_store.h"

namespace {

constexpr std::uint64_t kKeys = 20'000;

// Prints the status and ends the program if it is not OK.
void Require(const rocksdb::Status& status, const std::string& what) {
  if (!status.ok()) {
    std::cerr << what << ": " << status.ToString() << "\n";
    std::exit(1);
  }
}

void Write(rocktune::FlsmStore* store, std::mt19937_64* random) {
  const std::string value(1000, 'v');
  for (std::uint64_t entry = 0; entry < kKeys; ++entry) {
    Require(store->Put(rocksdb::WriteOptions(), std::to_string((*random)() % kKeys), value), "put");
  }
}

void Read(rocktune::FlsmStore* store, std::mt19937_64* random) {
  std::string value;
  for (std::uint64_t lookup = 0; lookup < kKeys; ++lookup) {
    const rocksdb::Status status =
        store->Get(rocksdb::ReadOptions(), std::to_string((*random)() % kKeys), &value);
    Require(status.IsNotFound() ? rocksdb::Status::OK() : status, "get");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " DIRECTORY\n";
    return 2;
  }
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 256 << 10;  // small, so that the example has several levels
  rocktune::FlsmOptions layout;
  layout.size_ratio = 4;
  layout.policies = {1};     // leveling: one run per level
  layout.level0_runs = 0;    // flushed tables are merged into level 1 at once
  layout.sample_every = 16;  // more often than by default, because the example is short

  std::unique_ptr<rocktune::FlsmStore> store;
  Require(rocktune::FlsmStore::Open(options, layout, argv[1], &store), "open");
  std::mt19937_64 random(1);
  Write(store.get(), &random);
  Require(store->WaitUntilSettled(), "settle");
  std::cout << "leveled:  " << rocktune::ToText(store->Shape()) << "\n";

  // Tiering: level 1 may have T runs, so its data is merged less often.
  Require(store->SetPolicy(1, layout.size_ratio), "set policy");
  Write(store.get(), &random);
  Require(store->WaitUntilSettled(), "settle");
  std::cout << "reshaped: " << rocktune::ToText(store->Shape()) << "\n";

  Read(store.get(), &random);
  const rocktune::FlsmStatistics statistics = store->Statistics();
  for (std::size_t level = 1; level < statistics.levels.size(); ++level) {
    const rocktune::FlsmLevelStatistics& at = statistics.levels[level];
    std::cout << "level " << level << ": found " << at.found << ", false positives " << at.false_positives
              << ", compactions wrote " << at.compaction_written_bytes << " bytes\n";
  }
  Require(store->Close(), "close");
  return 0;
}
