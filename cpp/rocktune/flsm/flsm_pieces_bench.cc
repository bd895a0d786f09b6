// Counts what merges in pieces cost (FlsmOptions::max_merge_bytes): fills a store of T = 10 with random
// entries and counts the bytes of its compactions, its tables and its sorted runs.
//
//   flsm_pieces_bench DIRECTORY POLICY MAX_MERGE_TABLES MEGABYTES SEED [BANDWIDTH_MB_S]
//
// POLICY is K of every level. MAX_MERGE_TABLES is max_merge_bytes in tables; 0 is the store's default, and
// more tables than the store has push levels in one piece. Without a bandwidth the program waits after each
// flush until no compaction is due, so that the counts do not depend on the machine. With one it writes in a
// closed loop on a device of that bandwidth, and the stalls count.
//
// Prints one JSON document.

#include <rocksdb/compaction_job_stats.h>
#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>

#include "rocktune/flsm_store.h"
#include "rocktune/throttled_file_system.h"
#include "rocktune/util/rocksdb_compat.h"

namespace {

constexpr uint64_t kTableBytes = 64 << 10;  // of a memtable too, as with RocksDB's defaults
constexpr std::size_t kValueBytes = 400;
constexpr std::size_t kEntryBytes = 16 + kValueBytes;

void Check(const rocksdb::Status& status) {
  if (!status.ok()) {
    throw std::runtime_error(status.ToString());
  }
}

struct Arguments {
  std::string directory;
  int policy = 1;
  uint64_t max_merge_tables = 0;
  uint64_t bytes = 0;  // of entries
  uint64_t seed = 0;
  uint64_t bandwidth_bytes_s = 0;
};

// Returns the bytes of keys and values. RocksDB does not fill total_input_bytes for subcompactions.
uint64_t InputBytes(const rocksdb::CompactionJobStats& stats) {
  return stats.total_input_raw_key_bytes + stats.total_input_raw_value_bytes;
}

// Counts compactions, and the bytes that the largest one reads.
class Jobs : public rocksdb::EventListener {
 public:
  void OnSubcompactionCompleted(const rocksdb::SubcompactionJobInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++jobs_;
    max_bytes_ = std::max(max_bytes_, InputBytes(info.stats));
  }
  nlohmann::json ToJson() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return {{"jobs", jobs_}, {"max_job_bytes", max_bytes_}};
  }

 private:
  std::mutex mutex_;
  uint64_t jobs_ = 0;
  uint64_t max_bytes_ = 0;
};

// Averages over flushes, and maxima.
struct Shapes {
  uint64_t samples = 0;
  uint64_t tables = 0;
  uint64_t runs = 0;
  uint64_t max_level0_files = 0;

  void Add(const rocktune::FlsmShape& shape, uint64_t present_tables) {
    ++samples;
    tables += present_tables;
    runs += shape.level0_files;
    for (const rocktune::FlsmLevel& level : shape.levels) {
      runs += level.runs.size();
    }
    max_level0_files = std::max(max_level0_files, shape.level0_files);
  }
};

rocksdb::Options StoreOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = kTableBytes;
  options.target_file_size_base = kTableBytes;
  options.compression = rocksdb::kNoCompression;
  options.statistics = rocksdb::CreateDBStatistics();
  return options;
}

rocktune::FlsmOptions Layout(const Arguments& arguments) {
  rocktune::FlsmOptions layout;
  layout.size_ratio = 10;
  layout.levels = 5;
  layout.policies = {arguments.policy};
  layout.max_merge_bytes = arguments.max_merge_tables * kTableBytes;
  return layout;
}

uint64_t Tables(rocktune::FlsmStore* store) {
  rocksdb::ColumnFamilyMetaData metadata;
  store->GetColumnFamilyMetaData(store->DefaultColumnFamily(), &metadata);
  return metadata.file_count;
}

// Writes random entries, and adds a sample to `shapes` for each table's worth of them.
void Fill(const Arguments& arguments, rocktune::FlsmStore* store, Shapes* shapes) {
  std::mt19937_64 random(arguments.seed);
  const std::string value(kValueBytes, 'v');
  const uint64_t entries = arguments.bytes / kEntryBytes;
  const uint64_t entries_of_table = kTableBytes / kEntryBytes;
  for (uint64_t entry = 1; entry <= entries; ++entry) {
    char key[24];
    std::snprintf(key, sizeof key, "%016llu", static_cast<unsigned long long>(random() % (2 * entries)));
    Check(store->Put({}, key, value));
    if (entry % entries_of_table == 0) {
      if (arguments.bandwidth_bytes_s == 0) {
        Check(store->Flush({}));
        Check(store->WaitUntilSettled());
      }
      shapes->Add(store->Shape(), Tables(store));
    }
  }
  Check(store->Flush({}));
}

nlohmann::json CompactionBytes(const rocktune::FlsmStatistics& statistics) {
  uint64_t read = 0;
  uint64_t written = 0;
  for (const rocktune::FlsmLevelStatistics& level : statistics.levels) {
    read += level.compaction_read_bytes;
    written += level.compaction_written_bytes;
  }
  return {{"flushed_bytes", statistics.flushed_bytes}, {"read_bytes", read}, {"written_bytes", written}};
}

nlohmann::json Measure(const Arguments& arguments) {
  const auto files = rocktune::ThrottledFileSystem::Create(
      rocksdb::FileSystem::Default(), {.bandwidth_bytes_s = arguments.bandwidth_bytes_s});
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
  const auto jobs = std::make_shared<Jobs>();
  rocksdb::Options options = StoreOptions();
  options.env = env.get();
  options.listeners = {jobs, rocktune::NewThreadRoleListener()};
  std::unique_ptr<rocktune::FlsmStore> store;
  Check(rocktune::FlsmStore::Open(options, Layout(arguments), arguments.directory, &store));
  Shapes shapes;
  const auto begin = std::chrono::steady_clock::now();
  Fill(arguments, store.get(), &shapes);
  const std::chrono::duration<double> writing = std::chrono::steady_clock::now() - begin;
  Check(store->WaitUntilSettled());
  nlohmann::json document = CompactionBytes(store->Statistics());
  document.update(jobs->ToJson());
  const auto samples = static_cast<double>(shapes.samples);
  document["table_bytes"] = kTableBytes;
  document["mean_tables"] = static_cast<double>(shapes.tables) / samples;
  document["mean_runs"] = static_cast<double>(shapes.runs) / samples;
  document["max_level0_files"] = shapes.max_level0_files;
  document["writing_s"] = writing.count();
  document["stalled_s"] =
      static_cast<double>(options.statistics->getTickerCount(rocksdb::STALL_MICROS)) / 1e6;
  document["engine"] = rocktune::RocksDbVersion();
  document["assertions"] = rocktune::RocksDbAssertionsOn();
  return document;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fputs("usage: flsm_pieces_bench DIRECTORY POLICY MAX_MERGE_TABLES MEGABYTES SEED [BANDWIDTH_MB_S]\n",
               stderr);
    return 2;
  }
  try {
    const Arguments arguments{argv[1],
                              std::stoi(argv[2]),
                              std::stoull(argv[3]),
                              std::stoull(argv[4]) * 1'000'000,
                              std::stoull(argv[5]),
                              argc > 6 ? std::stoull(argv[6]) * 1'000'000 : 0};
    std::puts(Measure(arguments).dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flsm_pieces_bench: %s\n", error.what());
    return 1;
  }
}
