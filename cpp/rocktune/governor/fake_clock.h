#pragma once

#include <rocksdb/system_clock.h>

#include <atomic>
#include <cstdint>

namespace rocktune {

// A clock for tests that stands still until Advance. Begins at 1,000,000 seconds. Thread-safe.
class FakeClock : public rocksdb::SystemClockWrapper {
 public:
  static constexpr uint64_t kSecond = 1'000'000'000;

  FakeClock() : SystemClockWrapper(rocksdb::SystemClock::Default()) {}
  const char* Name() const override { return "rocktune.FakeClock"; }
  uint64_t NowNanos() override { return nanos_.load(); }
  uint64_t NowMicros() override { return nanos_.load() / 1000; }
  // Moves the clock by `nanos`, backwards if negative.
  void Advance(int64_t nanos) { nanos_ += static_cast<uint64_t>(nanos); }

 private:
  std::atomic<uint64_t> nanos_{1'000'000 * kSecond};
};

}  // namespace rocktune
