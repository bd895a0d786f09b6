#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "rocktune/device/io_counters.h"
#include "rocktune/device/rate_timeline.h"
#include "rocktune/device_spec.h"
#include "rocktune/util/run_clock.h"
#include "rocktune/util/thread_role.h"

namespace rocktune {

// A simulated device: delays I/O until a device of the given spec would have served it, and counts it.
// Requests are served first come, first served, in slices of 64 KiB. Time is that of a RunClock.
//
// Ownership: the clock must outlive the throttle.
// Threads: thread-safe. The lock is held to reserve time, never while a thread waits.
class Throttle {
 public:
  // Maximum size of a device operation.
  static constexpr uint64_t kOperationBytes = 256 << 10;
  // Returns the number of device operations in a request of `bytes`.
  static constexpr uint64_t OperationsOf(uint64_t bytes) {
    return (bytes + kOperationBytes - 1) / kOperationBytes;
  }

  Throttle(const DeviceSpec& spec, RunClock* clock);

  // Waits until the device has served a request, and for `latency_us` more, and counts it slice by slice.
  // `operations` is the number of device operations; it may be 0. Does not return while the clock is stopped,
  // even if the device is unlimited. Returns at once if the clock is closed.
  void Pass(IoCause cause, uint64_t bytes, uint64_t operations, uint64_t latency_us) {
    if (enabled_.load(std::memory_order_relaxed)) {
      if (limited_) {
        PassSliceBySlice(cause, bytes, operations, latency_us);
        return;
      }
      clock_->WaitWhileStopped();
    }
    counters_.Add(cause, bytes, operations);
  }

  // Disables or enables all delays. While they are disabled, I/O passes at once, even if the clock is
  // stopped. It is counted in both cases.
  void SetEnabled(bool enabled) { enabled_.store(enabled, std::memory_order_relaxed); }

  // Returns the I/O that has passed so far.
  DeviceCounters Counters() const { return counters_.Counters(); }
  const DeviceSpec& spec() const { return spec_; }

 private:
  void PassSliceBySlice(IoCause cause, uint64_t bytes, uint64_t operations, uint64_t latency_us);
  // Reserves time for a slice and returns the time at which it is served.
  RunClock::Nanos Reserve(uint64_t bytes, uint64_t operations);

  const DeviceSpec spec_;
  const bool limited_;  // true if the spec delays anything
  RunClock* const clock_;
  std::atomic<bool> enabled_{true};
  IoCounters counters_;
  std::mutex mutex_;  // guards the timelines
  RateTimeline bandwidth_;
  RateTimeline operations_;
};

}  // namespace rocktune
