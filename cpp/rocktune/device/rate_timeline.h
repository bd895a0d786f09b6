#pragma once

#include <cstdint>

#include "rocktune/util/run_clock.h"

namespace rocktune {

// The schedule of a resource that serves requests one after the other at a fixed rate, such as a device's
// bandwidth or its operations per second. It only computes times: it reads no clock and does not wait.
//
// Idle time counts up to `idle_credit` nanoseconds: requests within that time of service are then served at
// once. The credit keeps the rate exact although threads wake late. Not thread-safe.
class RateTimeline {
 public:
  using Nanos = RunClock::Nanos;

  // 0 for `units_per_s` means unlimited. `idle_credit` is in nanoseconds.
  RateTimeline(uint64_t units_per_s, Nanos idle_credit);

  // Reserves service for `units` at the time `now`, after all earlier reservations. Returns the time at which
  // the service ends, which idle credit may put before `now`. Returns `now` if `units` is 0 or the rate is
  // unlimited.
  // REQUIRES: units <= 2^33, so that the arithmetic cannot overflow.
  Nanos Reserve(Nanos now, uint64_t units);

 private:
  uint64_t units_per_s_;
  Nanos idle_credit_;
  Nanos served_until_ = 0;
  uint64_t remainder_ = 0;  // fraction of a nanosecond to add to served_until_, in units of 1 / units_per_s_
};

}  // namespace rocktune
