#pragma once

#include <atomic>
#include <chrono>
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

  // Nanoseconds of load so far. While stopped: the moment of the stop. Costs one steady_clock read.
  Nanos Now() const;

  // Lets the clock move. No effect while it moves.
  void Start();

  // Stops the clock; sleepers stay asleep until it has moved on to their time. No effect while stopped.
  void Stop();

  // Ends all waiting, now and later: sleepers return at once and gates stand open. Cannot be undone.
  void Close();

  bool closed() const { return closed_.load(std::memory_order_acquire); }
  bool running() const { return running_.load(std::memory_order_acquire); }

  // Sleeps until Now() >= time. Returns false when the clock was closed meanwhile.
  bool SleepUntil(Nanos time);

  // Returns at once while the clock runs; otherwise waits for Start. Returns false when closed.
  bool WaitWhileStopped();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> running_{false};
  std::atomic<bool> closed_{false};
  // Run time = steady time - offset while running; stopped_at_ while stopped.
  std::atomic<Nanos> offset_{0};
  std::atomic<Nanos> stopped_at_{0};
};

}  // namespace rocktune
