#include "rocktune/governor/governor_policy.h"

#include <algorithm>
#include <cmath>

namespace rocktune {
namespace {

// The toggle repays debt from the first share of the bound until the second is left.
constexpr double kRepayShare = 0.7;
constexpr double kRepaidShare = 0.5;
// From this share of the bound, compactions get more than flushes, WAL and reads leave.
constexpr double kUrgentShare = 0.5;
// Bandwidth kept free for flushes, WAL and reads to grow, as a share of their use. A full device hides their
// demand.
constexpr double kHeadroom = 0.1;
// Compactions' minimum share of the bandwidth that writes leave. Reads that took everything would pay for the
// tables that are not compacted.
constexpr double kMinShareWithReads = 0.5;
constexpr double kMinShareWithReadsWhenDue = 1;
// With fewer reads the share of page-cache hits is unknown.
constexpr uint64_t kMinReadBytes = 1 << 20;
// With fewer tables a merge saves too few runs for the bytes it writes.
constexpr std::size_t kMinMergedTables = 8;

double Share(uint64_t bytes, double seconds, uint64_t bytes_per_s) {
  return static_cast<double>(bytes) / (seconds * static_cast<double>(bytes_per_s));
}

double ShareOfBound(uint64_t owed, uint64_t bound) {
  return bound == 0 ? 0 : static_cast<double>(owed) / static_cast<double>(bound);
}

}  // namespace

double DeviceReadShare(uint64_t rocksdb_bytes, uint64_t device_bytes, double before) {
  return rocksdb_bytes < kMinReadBytes
             ? before
             : std::min(1.0, static_cast<double>(device_bytes) / static_cast<double>(rocksdb_bytes));
}

uint64_t RaisedBandwidth(uint64_t bytes_per_s, const GovernorSample& sample) {
  const auto written = static_cast<double>(sample.flush_bytes + sample.compaction_write_bytes);
  return std::max(bytes_per_s, static_cast<uint64_t>(written / sample.seconds));
}

double DebtShare(const GovernorSample& sample, const GovernorLimits& limits) {
  return std::max(ShareOfBound(sample.pending_bytes, limits.debt_bytes),
                  ShareOfBound(sample.sorted_runs, limits.debt_runs));
}

double FlushShare(const GovernorSample& sample, const GovernorLimits& limits) {
  return Share(sample.flush_bytes, sample.seconds, limits.max_flush_bytes_per_s);
}

double TotalShare(const GovernorSample& sample, const GovernorLimits& limits) {
  return Share(sample.flush_bytes + sample.compaction_write_bytes, sample.seconds,
               limits.max_flush_bytes_per_s);
}

ToggleState NextToggle(const ToggleState& state, const GovernorSample& sample, const GovernorLimits& limits,
                       const ToggleWatermarks& watermarks) {
  ToggleState next = state;
  const double debt = DebtShare(sample, limits);
  next.repaying = debt >= kRepayShare || (state.repaying && debt > kRepaidShare);
  const double flushes = FlushShare(sample, limits);
  const double total = TotalShare(sample, limits);
  const bool busy_with_flushes = sample.flushes_lag || flushes >= watermarks.flush_share;
  if (next.repaying || (!busy_with_flushes && total <= watermarks.total_share)) {
    next.compactions_off = false;
  } else if (busy_with_flushes && total >= watermarks.total_share) {
    next.compactions_off = true;
  }
  return next;
}

uint64_t RefillMicros(uint64_t interval_us) {
  return std::max<uint64_t>(1, interval_us / kRefillsPerInterval);
}

bool NextDrains(bool compactions_off, const GovernorSample& sample, uint64_t interval_us,
                const ToggleWatermarks& watermarks) {
  const auto elapsed_us = static_cast<uint64_t>(std::llround(sample.seconds * 1e6));
  const uint64_t refill_us = RefillMicros(interval_us);
  const uint64_t refills = std::max<uint64_t>(1, (elapsed_us + refill_us - 1) / refill_us);
  const uint64_t flush_percent = sample.flush_drains * 100 / refills;
  const uint64_t total_percent = flush_percent + sample.compaction_drains * 100 / refills;
  const auto flush_watermark = static_cast<uint64_t>(std::llround(watermarks.flush_share * 100));
  const auto total_watermark = static_cast<uint64_t>(std::llround(watermarks.total_share * 100));
  if (total_percent == 0) {
    return compactions_off;
  }
  if (total_percent <= total_watermark && flush_percent < flush_watermark) {
    return false;
  }
  return compactions_off || (total_percent >= total_watermark && flush_percent >= flush_watermark);
}

uint64_t CompactionBytesPerSecond(const GovernorSample& sample, const GovernorLimits& limits) {
  const auto device = static_cast<double>(limits.device_bytes_per_s);
  const auto wanted = [&](uint64_t bytes) {
    return (1 + kHeadroom) * static_cast<double>(bytes) / sample.seconds;
  };
  const double left_by_writes = std::max(0.0, device - wanted(sample.flush_bytes + sample.wal_bytes));
  const double min_left =
      (sample.level0_due ? kMinShareWithReadsWhenDue : kMinShareWithReads) * left_by_writes;
  const double left = std::max(min_left, left_by_writes - wanted(sample.user_read_bytes));
  const double urgency =
      std::clamp((DebtShare(sample, limits) - kUrgentShare) / (1 - kUrgentShare), 0.0, 1.0);
  const double rate = left + (device - left) * urgency * urgency;
  return static_cast<uint64_t>(std::llround(std::clamp(rate, limits.min_compaction_share * device, device)));
}

Level0Merge NextLevel0Merge(const std::vector<Level0Table>& newest_first, uint64_t max_bytes) {
  Level0Merge best;
  // A window [first, last] that moves towards older tables. `>=` prefers the oldest of equal windows.
  uint64_t bytes = 0;
  std::size_t first = 0;
  for (std::size_t last = 0; last < newest_first.size(); ++last) {
    bytes += newest_first[last].bytes;
    for (; first <= last && (bytes > max_bytes || newest_first[last].pinned); ++first) {
      bytes -= newest_first[first].bytes;
    }
    if (last + 1 - first >= std::max(best.count, kMinMergedTables)) {
      best = {first, last + 1 - first};
    }
  }
  return best;
}

bool ShouldPauseForMerges(bool paused, bool merging, const GovernorSample& owed,
                          const GovernorLimits& limits) {
  const double share = ShareOfBound(owed.pending_bytes, limits.debt_bytes);
  return merging && share < (paused ? kRepayShare : kRepaidShare);
}

}  // namespace rocktune
