#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rocktune/compaction_governor.h"

namespace rocktune {

// The decisions of the compaction governor as pure functions: no I/O, no clock, no state of their own.

// What the device can do, and how much may be owed. A bound of 0 is none.
struct GovernorLimits {
  uint64_t device_bytes_per_s = 0;     // reads and writes together, above 0
  uint64_t max_flush_bytes_per_s = 0;  // what flushes reach while nothing else writes, above 0
  uint64_t debt_bytes = 0;
  uint64_t debt_runs = 0;
  double min_compaction_share = 0.02;  // of the device, however much others want; above 0
};

// From this share of a bound on writes are slowed; at the bound they stop.
inline constexpr double kSlowedShare = 0.75;

// How near the debt is to its bound: 1 at the bound, more beyond it; 0 without a bound.
double DebtShare(const GovernorSample& sample, const GovernorLimits& limits);

struct ToggleState {
  bool compactions_off = false;
  bool repaying = false;  // the debt came near its bound; compactions stay on until less is owed
};

// Flushes over the interval as a share of the maximum flush rate.
double FlushShare(const GovernorSample& sample, const GovernorLimits& limits);

// Flushes and what compactions write, as a share of the maximum flush rate.
double TotalShare(const GovernorSample& sample, const GovernorLimits& limits);

// Compactions go off when flushes take their watermark's share and all together theirs; they go on when both
// are below. In between nothing changes. Flushes that lag count as being at their watermark, since a flush
// thread that waits for compactions would hide the load (the thesis' tuner never fired with one). But when
// the debt comes to seven tenths of its bound they go on until half of it is left, or a load that hovers
// between the watermarks would keep them off for ever; not later, for writes are slowed from three quarters
// of the bound.
ToggleState NextToggle(const ToggleState& state, const GovernorSample& sample, const GovernorLimits& limits,
                       const ToggleWatermarks& watermarks);

// What compactions may read and write per second: what flushes, the log and users' reads leave of the device
// with a tenth more than they took, so that they can grow. Reads leave them at least half of what writes do,
// and all of it when level 0 is due, since what is not compacted makes every read dearer. And beyond half the
// bound ever more of it all, until at the bound they may have the whole device. Never less than their least
// share, because a compaction that stands still holds up those behind it.
uint64_t CompactionBytesPerSecond(const GovernorSample& sample, const GovernorLimits& limits);

// A table of level 0.
struct Level0Table {
  uint64_t bytes = 0;
  bool fixed = false;  // must not be merged: a compaction has it, or RocksDB could not order what comes of it
};

// Neighbours in level 0 that are to become one table, as places in their order; none if count is 0.
struct Level0Merge {
  std::size_t first = 0;
  std::size_t count = 0;

  bool operator==(const Level0Merge&) const = default;
};

// As many neighbours as have at most `max_bytes` together, since each table but one is a run less to read;
// of equally many the oldest. None where they are fewer than eight, which is not worth writing them anew.
Level0Merge NextLevel0Merge(const std::vector<Level0Table>& newest_first, uint64_t max_bytes);

// Whether RocksDB's own compactions pause while tables of level 0 are merged with each other. They do while
// there is something to merge, because the first of them would take all of level 0, and end only when all of
// it is rewritten; unless the bytes that are owed come near their bound, as above. However many runs there
// are: nothing makes them fewer for less writing than such merges.
bool NextGathering(bool gathering, bool merging, const GovernorSample& owed, const GovernorLimits& limits);

}  // namespace rocktune
