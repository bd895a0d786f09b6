#include "rocktune/governor/governed_options.h"

#include <algorithm>
#include <cmath>

namespace rocktune {
namespace {

// PrepareForBulkLoad's, for "never".
constexpr uint64_t kNever = 1 << 30;

uint64_t StopAt(uint64_t bound, uint64_t owed) {
  return std::max(bound, static_cast<uint64_t>(static_cast<double>(owed) / kSlowedShare) + 1);
}

uint64_t SlowAt(uint64_t stop) {
  return static_cast<uint64_t>(std::ceil(kSlowedShare * static_cast<double>(stop)));
}

}  // namespace

GovernedOptions GovernedOptionsOf(const rocksdb::ColumnFamilyOptions& options) {
  return {options.disable_auto_compactions, options.level0_slowdown_writes_trigger,
          options.level0_stop_writes_trigger, options.soft_pending_compaction_bytes_limit,
          options.hard_pending_compaction_bytes_limit};
}

OptionChanges ToChanges(const GovernedOptions& options) {
  return {
      {kDisableAutoCompactions, options.disable_auto_compactions ? "true" : "false"},
      {"level0_slowdown_writes_trigger", std::to_string(options.level0_slowdown_writes_trigger)},
      {"level0_stop_writes_trigger", std::to_string(options.level0_stop_writes_trigger)},
      {"soft_pending_compaction_bytes_limit", std::to_string(options.soft_pending_compaction_bytes_limit)},
      {"hard_pending_compaction_bytes_limit", std::to_string(options.hard_pending_compaction_bytes_limit)}};
}

GovernedOptions RaisedTriggers(const DebtBounds& bounds, const DebtBounds& owed) {
  const uint64_t runs = bounds.runs == 0 ? kNever : std::min(StopAt(bounds.runs, owed.runs), kNever);
  const uint64_t bytes = bounds.bytes == 0 ? 0 : StopAt(bounds.bytes, owed.bytes);
  return {false, static_cast<int64_t>(SlowAt(runs)), static_cast<int64_t>(runs), SlowAt(bytes), bytes};
}

bool AreRaisedTriggers(const GovernedOptions& options, const DebtBounds& bounds) {
  const auto runs = static_cast<uint64_t>(std::max<int64_t>(0, options.level0_stop_writes_trigger));
  const uint64_t bytes = options.hard_pending_compaction_bytes_limit;
  return runs >= (bounds.runs == 0 ? kNever : std::min(bounds.runs, kNever)) &&
         options.level0_slowdown_writes_trigger == static_cast<int64_t>(SlowAt(runs)) &&
         (bounds.bytes == 0 ? bytes == 0 : bytes >= bounds.bytes) &&
         options.soft_pending_compaction_bytes_limit == SlowAt(bytes);
}

uint64_t MinDebtRuns(int compaction_trigger) {
  return StopAt(0, static_cast<uint64_t>(std::max(0, compaction_trigger)));
}

}  // namespace rocktune
