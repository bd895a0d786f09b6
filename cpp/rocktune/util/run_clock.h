#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace rocktune {

// A clock that runs only while a run is under load. Latencies, the device's bandwidth, arrivals and windows
// are all in this clock's nanoseconds, so a run can be stopped for any time and continued without a trace.
//
// The clock is created stopped, at 0. Thread-safe. No thread sleeps while it holds a lock. The clock must
// outlive every waiting thread; Close ends all waits.
class RunClock {
 public:
  using Nanos = int64_t;

  RunClock() = default;
  RunClock(const RunClock&) = delete;
  RunClock& operator=(const RunClock&) = delete;

  // Returns the nanoseconds for which the clock has run. The value never decreases, also between threads.
  // Takes no lock and costs one reading of the steady clock.
  Nanos Now() const;

  // Starts the clock. No effect while it runs.
  void Start();

  // Stops the clock. Threads in SleepUntil sleep on until the clock has been started and reaches their time.
  // No effect while it is stopped.
  void Stop();

  // Ends all waits for good: SleepUntil and WaitWhileStopped return false at once, now and later. Cannot be
  // undone. Start and Stop still start and stop the time.
  void Close();

  // Returns true once Close has been called.
  bool closed() const { return closed_.load(std::memory_order_acquire); }
  // Returns true between Start and Stop.
  bool running() const { return PhaseOf(state_.load(std::memory_order_acquire)) == kRunning; }

  // Sleeps until the clock runs and Now() >= time, and returns true; returns false once the clock is closed.
  // Returns some tens of microseconds late. While the clock is stopped it waits even if `time` has passed.
  bool SleepUntil(Nanos time);

  // Waits until the clock runs, and returns true; returns false once the clock is closed.
  bool WaitWhileStopped() { return running() ? !closed() : WaitForStart(); }

 private:
  bool WaitForStart();

  // A phase and a time in one word, so that readers see both change together. While the clock runs, the time
  // is the steady clock's at this clock's 0; while it is stopped, the time is the value of Now().
  enum Phase : int64_t { kStopped = 0, kRunning = 1, kStopping = 2 };
  static Phase PhaseOf(int64_t state) { return static_cast<Phase>(state & 3); }
  static Nanos TimeOf(int64_t state) { return state >> 2; }
  static int64_t MakeState(Phase phase, Nanos time) { return time * 4 + phase; }

  std::atomic<int64_t> state_{MakeState(kStopped, 0)};
  std::atomic<bool> closed_{false};
  std::mutex mutex_;                 // guards changes of the two members above
  std::condition_variable started_;  // notified by Start and Close; threads wait on it while stopped
  std::condition_variable closing_;  // notified by Close only; threads sleep on it while running
};

}  // namespace rocktune
