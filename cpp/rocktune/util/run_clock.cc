#include "rocktune/util/run_clock.h"

#include <sys/prctl.h>

#include <chrono>
#include <thread>

namespace rocktune {
namespace {

using SteadyClock = std::chrono::steady_clock;

RunClock::Nanos SteadyNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now().time_since_epoch()).count();
}

// Reduces the calling thread's timer slack to 1 ns. By default Linux wakes a thread up to 50 us late to save
// power, and a read of 4 KB at 80 MB/s takes just 50 us.
void RequestPreciseTimers() {
  static thread_local const int result = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  static_cast<void>(result);  // sleeps are merely less precise if the request fails
}

}  // namespace

RunClock::Nanos RunClock::Now() const {
  for (;;) {
    const int64_t state = state_.load(std::memory_order_acquire);
    switch (PhaseOf(state)) {
      case kStopped:
        return TimeOf(state);
      case kStopping:
        std::this_thread::yield();  // Stop is about to store the final time
        break;
      case kRunning: {
        const Nanos steady = SteadyNow();
        // Without this check a reader preempted between the two reads would see a time after the stop.
        if (state_.load(std::memory_order_acquire) == state) {
          return steady - TimeOf(state);
        }
        break;
      }
    }
  }
}

void RunClock::Start() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const int64_t state = state_.load(std::memory_order_relaxed);
    if (PhaseOf(state) == kRunning) {
      return;
    }
    state_.store(MakeState(kRunning, SteadyNow() - TimeOf(state)), std::memory_order_release);
  }
  started_.notify_all();
}

void RunClock::Stop() {
  std::lock_guard<std::mutex> lock(mutex_);
  const int64_t state = state_.load(std::memory_order_relaxed);
  if (PhaseOf(state) != kRunning) {
    return;
  }
  // kStopping makes readers retry before the steady clock is read, so that no reader has seen a time after
  // the stop. The exchange is a full barrier: no later instruction, not even that reading, moves before it.
  state_.exchange(MakeState(kStopping, TimeOf(state)), std::memory_order_seq_cst);
  state_.store(MakeState(kStopped, SteadyNow() - TimeOf(state)), std::memory_order_release);
}

void RunClock::Close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_.store(true, std::memory_order_release);
  }
  started_.notify_all();
  closing_.notify_all();
}

bool RunClock::SleepUntil(Nanos time) {
  if (running() && Now() >= time) {
    return !closed();
  }
  RequestPreciseTimers();
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed()) {
    const int64_t state = state_.load(std::memory_order_relaxed);
    if (PhaseOf(state) != kRunning) {
      started_.wait(lock);
      continue;
    }
    const Nanos wake_at = TimeOf(state) + time;
    if (SteadyNow() >= wake_at) {
      return true;
    }
    // Neither Stop nor Start wakes this thread. A stop can only delay its time, so it suffices to check the
    // state when the present estimate expires.
    closing_.wait_until(lock, SteadyClock::time_point(std::chrono::nanoseconds(wake_at)));
  }
  return false;
}

bool RunClock::WaitForStart() {
  std::unique_lock<std::mutex> lock(mutex_);
  started_.wait(lock, [this] { return running() || closed(); });
  return !closed();
}

}  // namespace rocktune
