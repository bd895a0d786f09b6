#include "rocktune/device/timed_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace rocktune {
namespace {

using rocksdb::IOStatus;

constexpr double kHour = 3600;

void IgnoreElapsed(double /*elapsed_s*/) {}

// Returns work whose steps take at least a time, and counts them.
TimedWork Sleeping(std::atomic<uint64_t>* steps, std::chrono::milliseconds duration) {
  TimedWork work;
  work.step = [steps, duration] {
    std::this_thread::sleep_for(duration);
    ++*steps;
    return IOStatus::OK();
  };
  return work;
}

TEST(TimedWorkTest, TheRateIsThatOfAllThreads) {
  std::atomic<uint64_t> small{0};
  std::atomic<uint64_t> large{0};
  std::vector<TimedWork> works = {Sleeping(&small, std::chrono::milliseconds(2)),
                                  Sleeping(&large, std::chrono::milliseconds(2))};
  works[1].step_amount = 1000;
  works[1].max_steps = 25;
  double rate = 0;
  ASSERT_TRUE(MeasureRate(works, kHour, IgnoreElapsed, &rate).ok());
  EXPECT_EQ(large, 25u);
  EXPECT_GT(small, 0u);
  EXPECT_GT(rate, 0);
  // 25 steps take at least 50 ms.
  EXPECT_LE(rate, static_cast<double>(25 * 1000 + small) / 0.050);
}

TEST(TimedWorkTest, EveryWorkMakesAStepWithoutTime) {
  std::atomic<uint64_t> steps{0};
  const std::vector<TimedWork> works(3, Sleeping(&steps, std::chrono::milliseconds(1)));
  double rate = 0;
  ASSERT_TRUE(MeasureRate(works, 0, IgnoreElapsed, &rate).ok());
  EXPECT_GE(steps, 3u);
  EXPECT_GT(rate, 0);
  double median_us = 0;
  ASSERT_TRUE(MeasureMedian(works[0], 0, IgnoreElapsed, &median_us).ok());
  EXPECT_GE(median_us, 1000);
}

TEST(TimedWorkTest, AFailureEndsAllThreads) {
  std::atomic<uint64_t> steps{0};
  TimedWork failing;
  failing.step = [] { return IOStatus::IOError("broken"); };
  double rate = 0;
  const IOStatus status =
      MeasureRate({Sleeping(&steps, std::chrono::milliseconds(1)), failing}, kHour, IgnoreElapsed, &rate);
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  double median_us = 0;
  EXPECT_TRUE(MeasureMedian(failing, kHour, IgnoreElapsed, &median_us).IsIOError());
}

TEST(TimedWorkTest, TheMedianLeavesOutliersOut) {
  uint64_t steps = 0;
  TimedWork work;
  work.max_steps = 9;
  work.step = [&steps] {
    std::this_thread::sleep_for(std::chrono::milliseconds(++steps > 7 ? 200 : 4));
    return IOStatus::OK();
  };
  double median_us = 0;
  ASSERT_TRUE(MeasureMedian(work, kHour, IgnoreElapsed, &median_us).ok());
  EXPECT_EQ(steps, 9u);
  EXPECT_GE(median_us, 4000);
  EXPECT_LT(median_us, 200000);
}

TEST(TimedWorkTest, ReportsElapsedTime) {
  std::atomic<uint64_t> steps{0};
  TimedWork work = Sleeping(&steps, std::chrono::milliseconds(1));
  work.max_steps = 3;
  std::vector<double> reported;
  const Elapsed keep = [&reported](double elapsed_s) { reported.push_back(elapsed_s); };
  double median_us = 0;
  ASSERT_TRUE(MeasureMedian(work, kHour, keep, &median_us).ok());
  ASSERT_FALSE(reported.empty());
  EXPECT_GE(reported.front(), 0.001);
}

}  // namespace
}  // namespace rocktune
