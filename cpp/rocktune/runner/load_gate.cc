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
  // The time may be up a moment before the clock is stopped, so both are waited for.
  while (*now >= until && !clock_->closed()) {
    until_.wait(until, std::memory_order_acquire);
    until = until_.load(std::memory_order_acquire);
  }
  const bool go_on = clock_->WaitWhileStopped();
  waiting->store(false, std::memory_order_release);
  *now = clock_->Now();
  return go_on;
}

}  // namespace rocktune
