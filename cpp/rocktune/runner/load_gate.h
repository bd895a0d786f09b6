#pragma once

#include <atomic>
#include <limits>

#include "rocktune/util/run_clock.h"

namespace rocktune {

// Where load threads stop between operations: open until a moment of the run, and only while its clock runs.
//
// Thread-safe; passing an open gate takes two atomic loads. `clock` must outlive it.
class LoadGate {
 public:
  explicit LoadGate(RunClock* clock) : clock_(clock) {}

  // Lets operations start before `until`. Starts nothing by itself: the clock does, when it is started.
  void OpenUntil(RunClock::Nanos until);

  // Lets no operation start until it is opened again, even while the clock runs.
  void Shut() { OpenUntil(0); }

  // Turns all threads away, now and later. REQUIRES: the clock is closed.
  void Close() { OpenUntil(std::numeric_limits<RunClock::Nanos>::max()); }

  // Waits until an operation may start. `*now` is the caller's last reading of the clock, and a later one if
  // it had to wait; `*waiting` is true meanwhile. Returns false when there will be no more operations.
  bool Pass(RunClock::Nanos* now, std::atomic<bool>* waiting);

 private:
  RunClock* const clock_;
  std::atomic<RunClock::Nanos> until_{0};
};

}  // namespace rocktune
