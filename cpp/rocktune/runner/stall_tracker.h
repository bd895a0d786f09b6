#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "rocktune/util/run_clock.h"

namespace rocktune {

// Whether a store lets writes through.
enum class WriteCondition { kNormal, kDelayed, kStopped };

// Time in which a store delayed or stopped writes, since the run began.
struct StallTotals {
  RunClock::Nanos stalled_ns = 0;  // delayed or stopped
  RunClock::Nanos stopped_ns = 0;
};

// Adds up, in the run's time, how long a store was in each write condition.
//
// Thread-safe. `clock` must outlive it.
class StallTracker {
 public:
  explicit StallTracker(const RunClock* clock);

  // The store went from one condition to another. Changes may arrive out of order, as they do from RocksDB's
  // listeners, which run after its mutex is released.
  void Change(WriteCondition from, WriteCondition to);

  StallTotals Totals();

  // The longest time without writes that was in force since the last call, counted from its real beginning.
  RunClock::Nanos TakeLongestStop();

 private:
  WriteCondition Current() const;
  // Books the time since the last change. REQUIRES: mutex_ is held.
  void BookUntilNow();

  const RunClock* const clock_;
  std::mutex mutex_;
  // Arrivals in minus departures from each condition. They telescope: once all changes are here, the present
  // condition has 1 and the others 0, whatever their order.
  std::array<int, 3> balance_{1, 0, 0};
  RunClock::Nanos booked_until_ = 0;
  RunClock::Nanos present_stop_ns_ = 0;  // length so far of the stop in force
  RunClock::Nanos longest_stop_ns_ = 0;
  StallTotals totals_;
};

}  // namespace rocktune
