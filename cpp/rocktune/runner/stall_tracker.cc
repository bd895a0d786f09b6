#include "rocktune/runner/stall_tracker.h"

#include <algorithm>
#include <utility>

namespace rocktune {

void StallTracker::CountUntilNow() {
  const RunClock::Nanos now = clock_->Now();
  const RunClock::Nanos elapsed = now - std::exchange(counted_until_, now);
  if (elapsed == 0) {
    return;  // a stop that ended exactly with the last window must not count in this one
  }
  if (condition_ != WriteCondition::kNormal) {
    totals_.stalled_ns += elapsed;
  }
  if (condition_ == WriteCondition::kStopped) {
    totals_.stopped_ns += elapsed;
    current_stop_ns_ += elapsed;
    max_stop_ns_ = std::max(max_stop_ns_, current_stop_ns_);
  }
}

void StallTracker::Observe(WriteCondition condition) {
  std::lock_guard<std::mutex> lock(mutex_);
  CountUntilNow();
  condition_ = condition;
  if (condition != WriteCondition::kStopped) {
    current_stop_ns_ = 0;
  }
}

StallTotals StallTracker::Totals() {
  std::lock_guard<std::mutex> lock(mutex_);
  CountUntilNow();
  return totals_;
}

RunClock::Nanos StallTracker::TakeMaxStop() {
  std::lock_guard<std::mutex> lock(mutex_);
  CountUntilNow();
  return std::exchange(max_stop_ns_, 0);
}

}  // namespace rocktune
