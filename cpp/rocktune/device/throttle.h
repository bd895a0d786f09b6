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

// The device as threads meet it: lets I/O take the run time that the spec says, first come, first served in
// slices of 64 KiB, and counts what has passed.
//
// Thread-safe. `clock` must outlive the throttle. A lock is held to reserve time, never to wait for it.
class Throttle {
 public:
  // What one device operation carries at most.
  static constexpr uint64_t kOperationBytes = 256 << 10;
  // Device operations that a request for so many bytes takes.
  static constexpr uint64_t OperationsOf(uint64_t bytes) {
    return (bytes + kOperationBytes - 1) / kOperationBytes;
  }

  Throttle(const DeviceSpec& spec, RunClock* clock);

  // Returns when the device has served the request, and `latency_us` later; counts it slice by slice as it
  // passes. While the clock stands this does not return, without limits as little as with them. A closed
  // clock lets everything pass at once.
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

  // While disabled all passes at once, also while the clock stands; it is counted all the same.
  void SetEnabled(bool enabled) { enabled_.store(enabled, std::memory_order_relaxed); }

  DeviceCounters Counters() const { return counters_.Take(); }
  const DeviceSpec& spec() const { return spec_; }

 private:
  void PassSliceBySlice(IoCause cause, uint64_t bytes, uint64_t operations, uint64_t latency_us);
  RunClock::Nanos Reserve(uint64_t bytes, uint64_t operations);

  const DeviceSpec spec_;
  const bool limited_;
  RunClock* const clock_;
  std::atomic<bool> enabled_{true};
  IoCounters counters_;
  std::mutex mutex_;  // guards the timelines
  RateTimeline bandwidth_;
  RateTimeline operations_;
};

}  // namespace rocktune
