#include "rocktune/workload/session_clock.h"

#include <algorithm>
#include <cmath>

namespace rocktune {

namespace {

// Later than any run's age, and representable in int64_t.
constexpr double kNeverNs = 0x1.0p62;

int64_t Nanos(double seconds) { return static_cast<int64_t>(std::min(std::ceil(seconds * 1e9), kNeverNs)); }

}  // namespace

SessionClock::SessionClock(const std::vector<SessionSpec>& sessions, const std::vector<Arrival>& arrivals,
                           uint64_t thread, uint64_t threads)
    : sessions_(sessions),
      arrivals_(arrivals),
      threads_(static_cast<double>(threads)),
      next_operation_(static_cast<double>(thread)) {}

SessionClock::Start SessionClock::Next(int64_t now_ns) {
  for (;;) {
    const double seconds = sessions_[session_].seconds;
    const Arrival& arrival = arrivals_[session_];
    if (arrival.closed()) {
      if (seconds == 0 || now_ns < Nanos(begin_s_ + seconds)) {
        return {session_, now_ns < begin_ns_ ? begin_ns_ : -1};
      }
    } else {
      double at_s = arrival.SecondsOf(next_operation_);
      const double patience_s = sessions_[session_].arrival.patience_s;
      const double oldest_s = static_cast<double>(now_ns) * 1e-9 - begin_s_ - patience_s;
      if (patience_s > 0 && at_s < oldest_s) {
        // Skips whole turns of all threads, so that the thread keeps its share of later operations.
        const double missed = arrival.OperationsUntil(seconds == 0 ? oldest_s : std::min(oldest_s, seconds));
        next_operation_ += threads_ * std::max(0.0, std::ceil((missed - next_operation_) / threads_));
        at_s = arrival.SecondsOf(next_operation_);
      }
      if (seconds == 0 || at_s < seconds) {
        next_operation_ += threads_;
        return {session_, Nanos(begin_s_ + at_s)};
      }
      // The fraction of an operation at the session's end counts in the next session.
      next_operation_ -= arrival.OperationsUntil(seconds);
    }
    EnterNextSession();
  }
}

void SessionClock::EnterNextSession() {
  begin_s_ += sessions_[session_].seconds;
  begin_ns_ = Nanos(begin_s_);
  session_ = (session_ + 1) % sessions_.size();
}

}  // namespace rocktune
