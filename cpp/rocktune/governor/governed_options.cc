#include "rocktune/governor/governed_options.h"

#include <algorithm>
#include <cmath>

namespace rocktune {
namespace {

// The trigger that Options::PrepareForBulkLoad sets for "never".
constexpr uint64_t kNever = 1 << 30;

// Returns the trigger that stops writes: the bound, or more if the debt exceeds the bound's slowdown trigger.
uint64_t StopTrigger(uint64_t bound, uint64_t owed) {
  return std::max(bound, static_cast<uint64_t>(static_cast<double>(owed) / kSlowdownShare) + 1);
}

uint64_t SlowdownTrigger(uint64_t stop) {
  return static_cast<uint64_t>(std::ceil(kSlowdownShare * static_cast<double>(stop)));
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
  const uint64_t runs = bounds.runs == 0 ? kNever : std::min(StopTrigger(bounds.runs, owed.runs), kNever);
  const uint64_t bytes = bounds.bytes == 0 ? 0 : StopTrigger(bounds.bytes, owed.bytes);
  return {false, static_cast<int64_t>(SlowdownTrigger(runs)), static_cast<int64_t>(runs),
          SlowdownTrigger(bytes), bytes};
}

bool AreRaisedTriggers(const GovernedOptions& options, const DebtBounds& bounds) {
  const auto runs = static_cast<uint64_t>(std::max<int64_t>(0, options.level0_stop_writes_trigger));
  const uint64_t bytes = options.hard_pending_compaction_bytes_limit;
  return runs >= (bounds.runs == 0 ? kNever : std::min(bounds.runs, kNever)) &&
         options.level0_slowdown_writes_trigger == static_cast<int64_t>(SlowdownTrigger(runs)) &&
         (bounds.bytes == 0 ? bytes == 0 : bytes >= bounds.bytes) &&
         options.soft_pending_compaction_bytes_limit == SlowdownTrigger(bytes);
}

uint64_t MinDebtRuns(int compaction_trigger) {
  return StopTrigger(0, static_cast<uint64_t>(std::max(0, compaction_trigger)));
}

}  // namespace rocktune
