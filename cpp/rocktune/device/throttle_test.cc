#include "rocktune/device/throttle.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace rocktune {
namespace {

constexpr RunClock::Nanos kMillisecond = 1000000;

DeviceSpec TenMegabytesPerSecond() {
  DeviceSpec spec;
  spec.bandwidth_bytes_s = 10000000;
  return spec;
}

uint64_t Bytes(const Throttle& throttle, IoCause cause) {
  return throttle.Counters().bytes[static_cast<std::size_t>(cause)];
}

uint64_t Operations(const Throttle& throttle, IoCause cause) {
  return throttle.Counters().operations[static_cast<std::size_t>(cause)];
}

TEST(ThrottleTest, BandwidthDelaysBytes) {
  RunClock clock;
  Throttle throttle(TenMegabytesPerSecond(), &clock);
  clock.Start();
  throttle.Pass(IoCause::kFlush, 500000, 2, 0);
  throttle.Pass(IoCause::kFlush, 500000, 2, 0);
  // A megabyte takes 100 ms. A pause between the two calls gives at most 10 ms of credit.
  EXPECT_GE(clock.Now(), 90 * kMillisecond);
  EXPECT_EQ(Bytes(throttle, IoCause::kFlush), 1000000u);
  EXPECT_EQ(Operations(throttle, IoCause::kFlush), 4u);
}

TEST(ThrottleTest, ReadersAndWritersShareTheBandwidth) {
  RunClock clock;
  Throttle throttle(TenMegabytesPerSecond(), &clock);
  clock.Start();
  std::vector<std::thread> threads;
  for (const IoCause cause : {IoCause::kUserRead, IoCause::kFlush, IoCause::kWal, IoCause::kCompactionRead}) {
    threads.emplace_back([&throttle, cause] { throttle.Pass(cause, 250000, 1, 0); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GE(clock.Now(), 90 * kMillisecond);
}

TEST(ThrottleTest, IopsDelayOperations) {
  DeviceSpec spec;
  spec.iops = 1000;
  RunClock clock;
  Throttle throttle(spec, &clock);
  clock.Start();
  for (int i = 0; i < 50; ++i) {
    throttle.Pass(IoCause::kUserRead, 1, 1, 0);
  }
  EXPECT_GE(clock.Now(), 40 * kMillisecond);  // 50 ms minus the credit of 10 ms
}

TEST(ThrottleTest, LatencyIsAdded) {
  DeviceSpec spec;
  spec.read_latency_us = 20000;
  RunClock clock;
  Throttle throttle(spec, &clock);
  clock.Start();
  throttle.Pass(IoCause::kUserRead, 4096, 1, spec.read_latency_us);
  EXPECT_GE(clock.Now(), 20 * kMillisecond);
}

// A slice of 64 KiB takes 6.6 ms, and a mebibyte has 16 slices.
TEST(ThrottleTest, CountsALargeRequestSliceBySlice) {
  RunClock clock;
  Throttle throttle(TenMegabytesPerSecond(), &clock);
  std::thread writer([&] { throttle.Pass(IoCause::kFlush, 1 << 20, 4, 0); });
  clock.Start();
  uint64_t before = 0;
  while (before < 1 << 20) {
    const uint64_t bytes = Bytes(throttle, IoCause::kFlush);
    const RunClock::Nanos now = clock.Now();
    EXPECT_EQ(bytes % 65536, 0u);
    EXPECT_GE(bytes, before);
    EXPECT_LE(static_cast<double>(bytes), 10e6 * (static_cast<double>(now) * 1e-9 + 0.010));
    before = bytes;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  writer.join();
  EXPECT_EQ(Operations(throttle, IoCause::kFlush), 4u);
}

// A small read during a large write waits for a slice or two and not for all 16,384. The write takes 107 s,
// so it must not be complete when the read returns.
TEST(ThrottleTest, ASmallReadDoesNotWaitForALargeWrite) {
  RunClock clock;
  Throttle throttle(TenMegabytesPerSecond(), &clock);
  clock.Start();
  std::thread writer([&] { throttle.Pass(IoCause::kFlush, 1 << 30, 4096, 0); });
  while (Bytes(throttle, IoCause::kFlush) == 0) {
    std::this_thread::yield();
  }
  throttle.Pass(IoCause::kUserRead, 4096, 1, 0);
  EXPECT_LT(Bytes(throttle, IoCause::kFlush), uint64_t{1} << 30);
  clock.Close();
  writer.join();
}

// The parameter is the device's bandwidth; 0 means unlimited.
class ThrottleClockTest : public testing::TestWithParam<uint64_t> {};

TEST_P(ThrottleClockTest, NothingPassesUntilTheClockStarts) {
  DeviceSpec spec;
  spec.bandwidth_bytes_s = GetParam();
  RunClock clock;
  Throttle throttle(spec, &clock);
  std::thread reader([&] { throttle.Pass(IoCause::kUserRead, 4096, 1, 0); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(Bytes(throttle, IoCause::kUserRead), 0u);
  clock.Start();
  reader.join();
  EXPECT_EQ(Bytes(throttle, IoCause::kUserRead), 4096u);

  clock.Stop();
  std::thread again([&] { throttle.Pass(IoCause::kUserRead, 4096, 1, 0); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(Bytes(throttle, IoCause::kUserRead), 4096u);
  clock.Close();
  again.join();
  throttle.Pass(IoCause::kUserRead, 4096, 1, 0);
  EXPECT_EQ(Bytes(throttle, IoCause::kUserRead), 3 * 4096u);
}

TEST_P(ThrottleClockTest, IoPassesAndCountsWhileDisabled) {
  DeviceSpec spec;
  spec.bandwidth_bytes_s = GetParam();
  RunClock clock;
  Throttle throttle(spec, &clock);
  throttle.SetEnabled(false);
  throttle.Pass(IoCause::kFlush, uint64_t{1} << 40, 7, 3600000000);  // would take a day if enabled
  EXPECT_EQ(Bytes(throttle, IoCause::kFlush), uint64_t{1} << 40);
  EXPECT_EQ(Operations(throttle, IoCause::kFlush), 7u);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutLimit, ThrottleClockTest, testing::Values(0u, 10000000u));

TEST(ThrottleTest, CloseEndsWaitsForTheDevice) {
  RunClock clock;
  Throttle throttle(TenMegabytesPerSecond(), &clock);
  clock.Start();
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&] { throttle.Pass(IoCause::kFlush, uint64_t{1} << 34, 1, 0); });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  clock.Close();
  for (std::thread& writer : writers) {
    writer.join();
  }
  EXPECT_EQ(Bytes(throttle, IoCause::kFlush), uint64_t{4} << 34);
}

}  // namespace
}  // namespace rocktune
