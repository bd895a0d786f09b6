#pragma once

#include <mutex>

#include "rocktune/runner/store.h"
#include "rocktune/util/run_clock.h"

namespace rocktune {

// The time in which a store delayed or stopped writes since the run's beginning.
struct StallTotals {
  RunClock::Nanos stalled_ns = 0;  // writes were delayed or stopped
  RunClock::Nanos stopped_ns = 0;  // writes were stopped
};

// Adds up the run time that a store spends in each write condition. An observed condition is assumed to last
// until the next observation.
//
// Ownership: `clock` must outlive the tracker. Thread-safe.
class StallTracker {
 public:
  explicit StallTracker(const RunClock* clock) : clock_(clock), counted_until_(clock->Now()) {}

  // Sets the present condition.
  void Observe(WriteCondition condition);

  // Returns the totals up to now.
  StallTotals Totals();

  // Returns the length of the longest stop that lasted into the time since the last call, in nanoseconds, and
  // begins a new maximum. A stop counts from its beginning, even if that is before the last call.
  RunClock::Nanos TakeMaxStop();

 private:
  // Counts the time since the last call for the present condition. REQUIRES: mutex_ is held.
  void CountUntilNow();

  const RunClock* const clock_;
  std::mutex mutex_;  // guards the members below
  WriteCondition condition_ = WriteCondition::kNormal;
  RunClock::Nanos counted_until_;
  RunClock::Nanos current_stop_ns_ = 0;  // length of the current stop, or 0
  RunClock::Nanos max_stop_ns_ = 0;
  StallTotals totals_;
};

}  // namespace rocktune
