#include "rocktune/device/throttle.h"

#include <algorithm>

namespace rocktune {
namespace {

// Large requests are cut into slices, so that a small request waits for one slice of each and not for all.
constexpr uint64_t kSliceBytes = 64 << 10;
// Long compared to the lateness of waking threads, and short compared to any interval that is measured.
constexpr RunClock::Nanos kIdleCredit = RunClock::Nanos{10} * 1000 * 1000;

uint64_t DivideRoundingUp(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

}  // namespace

Throttle::Throttle(const DeviceSpec& spec, RunClock* clock)
    : spec_(spec),
      limited_(spec.throttled()),
      clock_(clock),
      bandwidth_(spec.bandwidth_bytes_s, kIdleCredit),
      operations_(spec.iops, kIdleCredit) {}

void Throttle::PassSliceBySlice(IoCause cause, uint64_t bytes, uint64_t operations, uint64_t latency_us) {
  // The operations are spread over the slices, too: reserved at once they would delay small requests.
  for (uint64_t slices = std::max<uint64_t>(1, DivideRoundingUp(bytes, kSliceBytes)); slices > 0; --slices) {
    const uint64_t slice_bytes = std::min(bytes, kSliceBytes);
    const uint64_t slice_operations = DivideRoundingUp(operations, slices);
    RunClock::Nanos ready = Reserve(slice_bytes, slice_operations);
    if (slices == 1) {  // the latency delays this request only; it occupies the device for no time
      ready += static_cast<RunClock::Nanos>(latency_us) * 1000;
    }
    clock_->SleepUntil(ready);
    counters_.Add(cause, slice_bytes, slice_operations);
    bytes -= slice_bytes;
    operations -= slice_operations;
  }
}

RunClock::Nanos Throttle::Reserve(uint64_t bytes, uint64_t operations) {
  const RunClock::Nanos now = clock_->Now();
  std::lock_guard<std::mutex> lock(mutex_);
  return std::max({now, bandwidth_.Reserve(now, bytes), operations_.Reserve(now, operations)});
}

}  // namespace rocktune
