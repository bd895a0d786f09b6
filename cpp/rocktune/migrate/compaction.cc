#include "rocktune/migrate/compaction.h"

#include <rocksdb/statistics.h>

#include <algorithm>
#include <future>

#include "rocktune/runner/run_error.h"

namespace rocktune {

void CompactWhole(const OpenStore& store, std::size_t family, std::optional<int> level, const char* phase,
                  uint64_t total_bytes, const Progress& progress) {
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = true;
  options.allow_write_stall = true;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  options.blob_garbage_collection_age_cutoff = 1;
  options.change_level = level.has_value();
  options.target_level = level.value_or(-1);
  rocksdb::ColumnFamilyHandle* handle = store.family(family);
  const auto statistics = store.db()->GetDBOptions().statistics;
  const uint64_t before = statistics->getTickerCount(rocksdb::COMPACT_WRITE_BYTES);
  std::future<rocksdb::Status> compaction = std::async(
      std::launch::async, [&] { return store.db()->CompactRange(options, handle, nullptr, nullptr); });
  do {
    const uint64_t written = statistics->getTickerCount(rocksdb::COMPACT_WRITE_BYTES) - before;
    progress(phase, static_cast<double>(std::min(written, total_bytes)), static_cast<double>(total_bytes));
  } while (compaction.wait_for(kProgressInterval) != std::future_status::ready);
  const rocksdb::Status status = compaction.get();
  if (!status.ok()) {
    throw StoreError("column family '" + handle->GetName() + "' cannot be compacted", status);
  }
}

}  // namespace rocktune
