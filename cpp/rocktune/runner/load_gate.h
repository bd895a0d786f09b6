#pragma once

#include <atomic>
#include <limits>

#include "rocktune/util/run_clock.h"

namespace rocktune {

// A gate that load threads pass before each operation. It is open until a given time of the run, and only
// while the run's clock runs. A new gate is shut.
//
// Ownership: `clock` must outlive the gate. Thread-safe; passing an open gate costs a few atomic loads.
class LoadGate {
 public:
  explicit LoadGate(RunClock* clock) : clock_(clock) {}

  // Opens the gate until the time `until`. Threads pass once the clock runs, too.
  void OpenUntil(RunClock::Nanos until);

  // Shuts the gate until OpenUntil is called again, even while the clock runs.
  void Shut() { OpenUntil(0); }

  // Makes Pass return false in all threads, now and later. REQUIRES: the clock is closed.
  void Close() { OpenUntil(std::numeric_limits<RunClock::Nanos>::max()); }

  // Waits until an operation may start and returns true; returns false once the clock is closed. `*now` is
  // the caller's latest reading of the clock; Pass updates it if it waits. `*waiting` is true while it waits.
  bool Pass(RunClock::Nanos* now, std::atomic<bool>* waiting);

 private:
  RunClock* const clock_;
  std::atomic<RunClock::Nanos> until_{0};
};

}  // namespace rocktune
