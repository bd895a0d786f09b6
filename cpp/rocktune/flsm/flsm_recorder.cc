#include "rocktune/flsm/flsm_recorder.h"

#include <rocksdb/perf_level.h>

#include <algorithm>
#include <map>

namespace rocktune {

bool FlsmRecorder::ThreadUsesPerfContext() {
  return rocksdb::GetPerfLevel() > rocksdb::PerfLevel::kEnableCount ||
         rocksdb::get_perf_context()->per_level_perf_context_enabled;
}

FlsmRecorder::Sample::Sample(FlsmRecorder* recorder, Weight weight)
    : recorder_(recorder),
      weight_(weight),
      was_quiet_(recorder->IsQuiet()),
      saved_context_(*rocksdb::get_perf_context()),
      saved_level_(rocksdb::GetPerfLevel()) {
  rocksdb::PerfContext* context = rocksdb::get_perf_context();
  context->Reset();
  context->ClearPerLevelPerfContext();
  context->EnablePerLevelPerfContext();
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableTimeExceptForMutex);
}

FlsmRecorder::Sample::~Sample() {
  rocksdb::PerfContext* context = rocksdb::get_perf_context();
  uint64_t passed = 0;
  uint64_t read_ns = 0;
  uint64_t sought = weight_.performed;                         // keys not found in newer levels
  const std::map<uint32_t, rocksdb::PerfContextByLevel> none;  // for a RocksDB built without PerfContext
  for (const auto& [physical, seen] :
       context->level_to_perf_context == nullptr ? none : *context->level_to_perf_context) {
    Level& level = recorder_->LevelOf(static_cast<int>(physical));
    const uint64_t found = std::min(sought, seen.user_key_return_count);
    level.filtered += weight_.Estimate(seen.bloom_filter_useful);
    level.passed += weight_.Estimate(seen.bloom_filter_full_positive);
    level.false_positives +=
        weight_.Estimate(seen.bloom_filter_full_positive - seen.bloom_filter_full_true_positive);
    level.found += weight_.Estimate(seen.user_key_return_count);
    level.read_ns += weight_.Estimate(seen.get_from_table_nanos);
    if (sought > 0) {
      // RocksDB has no time by key, so the keys that were not found get their part of the time.
      level.false_positive_read_ns += weight_.Estimate(seen.get_from_table_nanos * (sought - found) / sought);
    }
    sought -= found;
    passed += weight_.Estimate(seen.bloom_filter_full_positive);
    read_ns += weight_.Estimate(seen.get_from_table_nanos);
  }
  const bool quiet = was_quiet_ && recorder_->IsQuiet();
  recorder_->counts_.Add(IndexOf(kPassed, quiet), passed);
  recorder_->counts_.Add(IndexOf(kReadNs, quiet), read_ns);
  context->ClearPerLevelPerfContext();
  *context = saved_context_;
  rocksdb::SetPerfLevel(saved_level_);
}

std::size_t FlsmRecorder::NextSampler() {
  static std::atomic<std::size_t> next{0};
  return next++ % kSamplers;
}

uint64_t FlsmRecorder::CountLookups(uint64_t keys) {
  if (sample_every_ == 0) {
    return 0;
  }
  thread_local UntilSample until{};
  counts_.Add(kLookups, keys);
  return CountSamples(keys, &until) * sample_every_;
}

uint64_t FlsmRecorder::SampleWrite() {
  thread_local UntilSample until{};
  return CountSamples(1, &until) * sample_every_;
}

uint64_t FlsmRecorder::Entries(uint64_t in_memtable) {
  const uint64_t entries = sealed_entries_ + in_memtable;
  uint64_t reported = reported_entries_;
  while (reported < entries && !reported_entries_.compare_exchange_weak(reported, entries)) {
  }
  return std::max(reported, entries);
}

void FlsmRecorder::CountScanned(const FlsmShape& shape, uint64_t samples) {
  const uint64_t stand_for = samples * sample_every_;
  uint64_t all = shape.level0_files;
  levels_[0].scanned += stand_for * shape.level0_files;
  for (int number = 1; number <= shape.deepest(); ++number) {
    const std::size_t runs = shape.level(number).runs.size();
    levels_[static_cast<std::size_t>(number)].scanned += stand_for * runs;
    all += runs;
  }
  counts_.Add(IndexOf(kScanned, IsQuiet()), stand_for * all);
}

void FlsmRecorder::CountCompaction(int level, uint64_t read_bytes, uint64_t written_bytes, uint64_t took_us) {
  Level& counted = levels_[static_cast<std::size_t>(level)];
  ++counted.compactions;
  counted.compaction_read_bytes += read_bytes;
  counted.compaction_written_bytes += written_bytes;
  counted.compaction_us += took_us;
}

FlsmStatistics FlsmRecorder::Statistics(int levels) const {
  const auto counts = counts_.Values();
  FlsmStatistics statistics;
  statistics.lookups = counts[kLookups];
  statistics.found = counts[kFound];
  statistics.iterators = counts[kIterators];
  statistics.flushed_bytes = flushed_bytes_.load();
  const auto served = [&counts](bool quiet) {
    return FlsmServed{counts[IndexOf(kOperations, quiet)], counts[IndexOf(kBusyNs, quiet)],
                      counts[IndexOf(kPassed, quiet)], counts[IndexOf(kReadNs, quiet)],
                      counts[IndexOf(kScanned, quiet)]};
  };
  statistics.quiet = served(true);
  statistics.merging = served(false);
  statistics.busy_ns = statistics.quiet.busy_ns + statistics.merging.busy_ns;
  for (int number = 0; number <= levels; ++number) {
    const Level& level = levels_[static_cast<std::size_t>(number)];
    FlsmLevelStatistics& taken = statistics.levels.emplace_back();
    constexpr auto kTo = FlsmLevelStatistics::Fields();
    constexpr auto kFrom = Level::Fields();
    for (std::size_t field = 0; field < kTo.size(); ++field) {
      taken.*kTo[field].second = level.*kFrom[field].second;
    }
  }
  return statistics;
}

}  // namespace rocktune
