#pragma once

#include <mutex>

#include "rocktune/runner/store.h"
#include "rocktune/util/run_clock.h"

namespace rocktune {

// Time in which a store delayed or stopped writes, since the run began.
struct StallTotals {
  RunClock::Nanos stalled_ns = 0;  // delayed or stopped
  RunClock::Nanos stopped_ns = 0;
};

// Adds up, in the run's time, how long a store was in each write condition; each observation holds until the
// next.
//
// Thread-safe. `clock` must outlive it.
class StallTracker {
 public:
  explicit StallTracker(const RunClock* clock) : clock_(clock), booked_until_(clock->Now()) {}

  void Observe(WriteCondition condition);

  StallTotals Totals();

  // The longest time without writes that was in force since the last call, counted from its real beginning.
  RunClock::Nanos TakeMaxStop();

 private:
  // Books the time since the last observation. REQUIRES: mutex_ is held.
  void BookUntilNow();

  const RunClock* const clock_;
  std::mutex mutex_;
  WriteCondition condition_ = WriteCondition::kNormal;
  RunClock::Nanos booked_until_;
  RunClock::Nanos present_stop_ns_ = 0;  // length so far of the stop in force
  RunClock::Nanos max_stop_ns_ = 0;
  StallTotals totals_;
};

}  // namespace rocktune
