#include "rocktune/runner/load_gate.h"

namespace rocktune {

void LoadGate::OpenUntil(RunClock::Nanos until) {
  until_.store(until, std::memory_order_release);
  until_.notify_all();
}

bool LoadGate::Pass(RunClock::Nanos* now, std::atomic<bool>* waiting) {
  RunClock::Nanos until = until_.load(std::memory_order_acquire);
  if (*now < until && clock_->running()) {
    return !clock_->closed();
  }
  waiting->store(true, std::memory_order_release);
  bool go_on = true;
  // Both conditions are checked again after each wait: a window's time may end shortly before the clock is
  // stopped, and the gate may be shut while a thread waits for the clock.
  do {
    while (*now >= until && !clock_->closed()) {
      until_.wait(until, std::memory_order_acquire);
      until = until_.load(std::memory_order_acquire);
    }
    go_on = clock_->WaitWhileStopped();
    *now = clock_->Now();
    until = until_.load(std::memory_order_acquire);
  } while (go_on && *now >= until);
  waiting->store(false, std::memory_order_release);
  return go_on;
}

}  // namespace rocktune
