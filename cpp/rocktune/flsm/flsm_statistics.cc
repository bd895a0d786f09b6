#include "rocktune/flsm/flsm_statistics.h"

#include <rocksdb/perf_level.h>

#include <cmath>
#include <map>

namespace rocktune {

bool FlsmRecorder::ThreadUsesPerfContext() {
  return rocksdb::GetPerfLevel() > rocksdb::PerfLevel::kEnableCount ||
         rocksdb::get_perf_context()->per_level_perf_context_enabled;
}

FlsmRecorder::Sample::Sample(FlsmRecorder* recorder)
    : recorder_(recorder), own_(*rocksdb::get_perf_context()), own_level_(rocksdb::GetPerfLevel()) {
  rocksdb::PerfContext* context = rocksdb::get_perf_context();
  context->Reset();
  context->ClearPerLevelPerfContext();
  context->EnablePerLevelPerfContext();
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableTimeExceptForMutex);
}

FlsmRecorder::Sample::~Sample() {
  rocksdb::PerfContext* context = rocksdb::get_perf_context();
  const uint64_t weight = recorder_->sample_every_;
  recorder_->counts_.Add(kSampled, 1);
  const std::map<uint32_t, rocksdb::PerfContextByLevel> none;  // in a RocksDB that was built without
  for (const auto& [physical, seen] :
       context->level_to_perf_context == nullptr ? none : *context->level_to_perf_context) {
    Level& level = recorder_->OfPhysical(static_cast<int>(physical));
    level.filtered += weight * seen.bloom_filter_useful;
    level.passed += weight * seen.bloom_filter_full_positive;
    level.false_positives +=
        weight * (seen.bloom_filter_full_positive - seen.bloom_filter_full_true_positive);
    level.found += weight * seen.user_key_return_count;
    level.read_ns += weight * seen.get_from_table_nanos;
    if (seen.user_key_return_count == 0) {
      level.vain_ns += weight * seen.get_from_table_nanos;
    }
    const double read_us = static_cast<double>(seen.get_from_table_nanos) / 1e3;
    level.read_us2 += weight * static_cast<uint64_t>(std::llround(read_us * read_us));
  }
  context->ClearPerLevelPerfContext();
  *context = own_;
  rocksdb::SetPerfLevel(own_level_);
}

void FlsmRecorder::CountScanned(const FlsmShape& shape) {
  levels_[0].scanned += sample_every_ * shape.level0_files;
  for (int number = 1; number <= shape.deepest(); ++number) {
    levels_[static_cast<std::size_t>(number)].scanned += sample_every_ * shape.level(number).runs.size();
  }
}

void FlsmRecorder::CountCompaction(int level, uint64_t read_bytes, uint64_t written_bytes, uint64_t took_us) {
  Level& counted = levels_[static_cast<std::size_t>(level)];
  ++counted.compactions;
  counted.read_bytes += read_bytes;
  counted.written_bytes += written_bytes;
  counted.compaction_us += took_us;
}

FlsmStatistics FlsmRecorder::Take(int levels) const {
  const auto counts = counts_.Take();
  FlsmStatistics statistics;
  statistics.lookups = counts[kLookups];
  statistics.sampled = counts[kSampled];
  statistics.found = counts[kFound];
  statistics.iterators = counts[kIterators];
  statistics.busy_ns = counts[kBusyNs];
  for (int number = 0; number <= levels; ++number) {
    const Level& level = levels_[static_cast<std::size_t>(number)];
    statistics.levels.push_back({level.filtered, level.passed, level.false_positives, level.found,
                                 level.read_ns, level.vain_ns, level.read_us2, level.scanned,
                                 level.compactions, level.read_bytes, level.written_bytes,
                                 level.compaction_us});
  }
  return statistics;
}

}  // namespace rocktune
