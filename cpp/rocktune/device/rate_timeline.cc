#include "rocktune/device/rate_timeline.h"

#include <algorithm>

namespace rocktune {

RateTimeline::RateTimeline(uint64_t units_per_s, Nanos idle_credit)
    : units_per_s_(units_per_s), idle_credit_(idle_credit) {}

RateTimeline::Nanos RateTimeline::Reserve(Nanos now, uint64_t units) {
  if (units == 0 || units_per_s_ == 0) {
    return now;
  }
  constexpr uint64_t kNanosPerSecond = 1000000000;
  const uint64_t work = units * kNanosPerSecond + remainder_;
  remainder_ = work % units_per_s_;
  // A resource that has been idle starts at most the credit in the past.
  served_until_ = std::max(served_until_, now - idle_credit_) + static_cast<Nanos>(work / units_per_s_);
  return served_until_;
}

}  // namespace rocktune
