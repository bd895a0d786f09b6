#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rocktune/compaction_governor.h"

namespace rocktune {

// The decisions of the compaction governor as pure functions: no I/O, no clock, no state of their own. Safe
// to call from any thread. They throw no exception.

// The capacity of the device and the bounds of the compaction debt. A bound of 0 means no bound.
struct GovernorLimits {
  uint64_t device_bytes_per_s = 0;     // reads and writes together, above 0
  uint64_t max_flush_bytes_per_s = 0;  // rate of flushes while only the WAL is written besides, above 0
  uint64_t debt_bytes = 0;             // bytes that compactions have yet to rewrite
  uint64_t debt_runs = 0;              // tables in level 0
  double min_compaction_share = 0.02;  // share of the device that compactions may always use, in (0, 1]
};

// Returns the share of RocksDB's reads that reached the device, from 0 to 1: `device_bytes` over
// `rocksdb_bytes`. The rest were hits in the operating system's page cache. Returns `before` if RocksDB read
// less than 1 MiB, which says nothing.
double DeviceReadShare(uint64_t rocksdb_bytes, uint64_t device_bytes, double before);

// Returns the device's bandwidth after an interval: `bytes_per_s`, or the rate of flushes and compaction
// writes if that was higher. RocksDB syncs these before they count as done, so the device has taken them.
uint64_t RaisedBandwidth(uint64_t bytes_per_s, const GovernorSample& sample);

// Writes are slowed from this share of a bound; they stop at the bound.
inline constexpr double kSlowdownShare = 0.75;

// Returns the debt as a share of the bound it is nearest to: 1 at the bound, more beyond it, 0 without a
// bound.
double DebtShare(const GovernorSample& sample, const GovernorLimits& limits);

// The state of mode kToggle between two intervals.
struct ToggleState {
  bool compactions_off = false;
  // True from when the debt reaches seven tenths of a bound until it falls to half; compactions stay on.
  bool repaying = false;
};

// Returns the flushed bytes as a share of the maximum flush rate.
double FlushShare(const GovernorSample& sample, const GovernorLimits& limits);

// Returns the bytes that flushes and compactions wrote as a share of the maximum flush rate.
double TotalShare(const GovernorSample& sample, const GovernorLimits& limits);

// Returns the toggle's state after an interval (Warlo, section 3.3.7). Compactions go off when flushes and
// total writes both reach their watermark. They go on when both are below. Otherwise nothing changes.
//
// Two rules differ from the thesis:
// - Lagging flushes count as being at their watermark. A flush thread that waits for compactions would hide
//   the load; the thesis' tuner never fired with a single flush thread.
// - At seven tenths of the debt's bound compactions go on until half of the bound is left. A load between the
//   watermarks would otherwise keep them off for ever. Seven tenths, because writes are slowed from three
//   quarters.
ToggleState NextToggle(const ToggleState& state, const GovernorSample& sample, const GovernorLimits& limits,
                       const ToggleWatermarks& watermarks);

// The refills between two decisions in mode kDrains (Warlo, figure 3.6).
inline constexpr uint64_t kRefillsPerInterval = 100;

// Returns the time between two refills of the bucket in mode kDrains, at least 1.
uint64_t RefillMicros(uint64_t interval_us);

// Returns whether compactions are off after an interval in mode kDrains: Warlo's TuneCompaction (figure 3.9)
// in its whole percentages. `compactions_off` is the previous result. The load is the share of refills that a
// write waited for.
// - Compactions go off when flushes and all writes together both reach their watermark.
// - They go on when all writes are at or below their watermark and flushes below theirs.
// - Nothing changes between the watermarks, and nothing without a single drain: a store that becomes idle at
// a
//   peak keeps its compactions off until something waits again.
bool NextDrains(bool compactions_off, const GovernorSample& sample, uint64_t interval_us,
                const ToggleWatermarks& watermarks);

// Returns the limit of compactions' reads and writes in bytes per second: the device less 1.1 times the rate
// of flushes, WAL and users' reads. The tenth lets these grow, because a full device hides their demand.
// - Users' reads leave compactions at least half of the bandwidth that writes leave, and all of it if level 0
//   is due: each table that is not compacted makes every read dearer.
// - Beyond half of the debt's bound the limit rises quadratically to the whole device at the bound.
// - It is never below min_compaction_share of the device: a compaction that stands still holds up others.
uint64_t CompactionBytesPerSecond(const GovernorSample& sample, const GovernorLimits& limits);

// A table of level 0, as NextLevel0Merge sees it.
struct Level0Table {
  uint64_t bytes = 0;
  // True if the table must not be merged: a compaction uses it, or RocksDB could not order the merged table.
  bool pinned = false;
};

// Adjacent tables of level 0 to merge into one, as positions counted from the newest table. A count of 0
// means no merge.
struct Level0Merge {
  std::size_t first = 0;
  std::size_t count = 0;

  bool operator==(const Level0Merge&) const = default;
};

// Returns the merge with the maximum number of adjacent tables that have at most `max_bytes` together and are
// not pinned; the oldest such merge if several have that number. Returns no merge below eight tables, where
// too few runs are saved for the bytes written.
Level0Merge NextLevel0Merge(const std::vector<Level0Table>& newest_first, uint64_t max_bytes);

// True if RocksDB's own compactions must be off so that level-0 tables can be merged with each other.
// `merging` is true if tables can be merged; `paused` is the previous result. The first compaction of
// RocksDB's own would take all of level 0 until all of it is rewritten. Becomes false at seven tenths of the
// bound of bytes and true again below half. The bound of runs does not matter: merges reduce runs with less
// writing than compactions do.
bool ShouldPauseForMerges(bool paused, bool merging, const GovernorSample& owed,
                          const GovernorLimits& limits);

}  // namespace rocktune
