#include "rocktune/runner/stall_tracker.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rocktune {

StallTracker::StallTracker(const RunClock* clock) : clock_(clock), booked_until_(clock->Now()) {}

WriteCondition StallTracker::Current() const {
  // While a change is still on its way, more than one condition may have a positive balance; the one that the
  // store has arrived in most often is the better guess, and the milder one where they are equal.
  const auto present = std::max_element(balance_.begin(), balance_.end());
  return static_cast<WriteCondition>(present - balance_.begin());
}

void StallTracker::BookUntilNow() {
  const RunClock::Nanos now = clock_->Now();
  const RunClock::Nanos elapsed = now - std::exchange(booked_until_, now);
  if (elapsed == 0) {
    return;  // a stop that ended as the last window did is not in force in this one
  }
  const WriteCondition condition = Current();
  if (condition != WriteCondition::kNormal) {
    totals_.stalled_ns += elapsed;
  }
  if (condition == WriteCondition::kStopped) {
    totals_.stopped_ns += elapsed;
    present_stop_ns_ += elapsed;
    longest_stop_ns_ = std::max(longest_stop_ns_, present_stop_ns_);
  }
}

void StallTracker::Change(WriteCondition from, WriteCondition to) {
  std::lock_guard<std::mutex> lock(mutex_);
  BookUntilNow();
  --balance_[static_cast<std::size_t>(from)];
  ++balance_[static_cast<std::size_t>(to)];
  if (Current() != WriteCondition::kStopped) {
    present_stop_ns_ = 0;
  }
}

StallTotals StallTracker::Totals() {
  std::lock_guard<std::mutex> lock(mutex_);
  BookUntilNow();
  return totals_;
}

RunClock::Nanos StallTracker::TakeLongestStop() {
  std::lock_guard<std::mutex> lock(mutex_);
  BookUntilNow();
  return std::exchange(longest_stop_ns_, 0);
}

}  // namespace rocktune
