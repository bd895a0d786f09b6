#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace rocktune {

// The clock of a run: it moves only while the run is under load. Everything that a run measures or waits
// for (latencies, the device's bandwidth, arrivals, windows) is in this clock's nanoseconds, so that a run
// can stand still for any time and go on as if nothing had happened.
//
// Starts stopped, at 0. Thread-safe. Nobody sleeps holding a lock that another caller needs.
class RunClock {
 public:
  using Nanos = int64_t;

  RunClock() = default;
  RunClock(const RunClock&) = delete;
  RunClock& operator=(const RunClock&) = delete;

  // Nanoseconds of load so far, never decreasing. While stopped: the moment of the stop. Takes no lock and
  // costs one steady_clock read.
  Nanos Now() const;

  // Lets the clock move. No effect while it moves.
  void Start();

  // Stops the clock; sleepers stay asleep until it has moved on to their time. No effect while stopped.
  void Stop();

  // Ends all waiting, now and later: sleepers return at once and gates stand open. Cannot be undone. The
  // time itself still moves or stands as Start and Stop have it.
  void Close();

  bool closed() const { return closed_.load(std::memory_order_acquire); }
  bool running() const { return PhaseOf(state_.load(std::memory_order_acquire)) == kRunning; }

  // Sleeps until Now() >= time; wakes some tens of microseconds late. Like WaitWhileStopped it does not
  // return true while the clock stands, even if `time` has passed. Returns false when closed.
  bool SleepUntil(Nanos time);

  // Returns at once while the clock runs; otherwise waits for Start. Returns false when closed.
  bool WaitWhileStopped() { return running() ? !closed() : WaitForStart(); }

 private:
  bool WaitForStart();

  // A phase and a time in one word, so that readers see both change together. The time is the steady time at
  // which the clock would have shown 0 while it runs, and what the clock shows while it is stopped.
  enum Phase : int64_t { kStopped = 0, kRunning = 1, kStopping = 2 };
  static Phase PhaseOf(int64_t state) { return static_cast<Phase>(state & 3); }
  static Nanos TimeOf(int64_t state) { return state >> 2; }
  static int64_t MakeState(Phase phase, Nanos time) { return time * 4 + phase; }

  std::atomic<int64_t> state_{MakeState(kStopped, 0)};
  std::atomic<bool> closed_{false};
  std::mutex mutex_;                 // guards changes of the two above
  std::condition_variable started_;  // started or closed: wakes those that wait for a stopped clock
  std::condition_variable closing_;  // closed: wakes those that sleep until a time
};

}  // namespace rocktune
