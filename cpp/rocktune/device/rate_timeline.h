#pragma once

#include <cstdint>

#include "rocktune/util/run_clock.h"

namespace rocktune {

// When a resource that serves `units_per_s` (bytes, operations) one request after the other has served what
// was asked of it. Arithmetic alone: it reads no clock, waits for nothing and is not thread-safe.
//
// After idling the resource serves up to `idle_credit` of its time at once: a burst after a pause, and what
// keeps the rate exact although sleepers wake late.
class RateTimeline {
 public:
  using Nanos = RunClock::Nanos;

  // 0 units per second stand for a resource without limit.
  RateTimeline(uint64_t units_per_s, Nanos idle_credit);

  // Asks for `units` at the time `now` and returns when they will have been served, behind all that was
  // asked for before; that may be before `now`. No units, or no limit, are served at once.
  // REQUIRES: units <= 2^33, so that the arithmetic cannot overflow.
  Nanos Reserve(Nanos now, uint64_t units);

 private:
  uint64_t units_per_s_;
  Nanos idle_credit_;
  Nanos served_until_ = 0;
  uint64_t remainder_ = 0;  // the part of a nanosecond that served_until_ lacks, in 1/units_per_s_
};

}  // namespace rocktune
