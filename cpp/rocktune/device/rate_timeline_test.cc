#include "rocktune/device/rate_timeline.h"

#include <gtest/gtest.h>

namespace rocktune {
namespace {

constexpr RunClock::Nanos kMillisecond = 1000000;
constexpr RunClock::Nanos kCredit = 10 * kMillisecond;

// 100 MB/s: 10 ns a byte.
RateTimeline HundredMegabytesPerSecond() { return RateTimeline(100000000, kCredit); }

TEST(RateTimelineTest, ServesInTheOrderAsked) {
  RateTimeline timeline = HundredMegabytesPerSecond();
  // A writer's slice of 65,536 bytes takes 655,360 ns. A reader's 4,096 bytes, asked for 5,000 ns later,
  // come after it: 655,360 + 40,960. The writer's next slice comes after the reader.
  EXPECT_EQ(timeline.Reserve(0, 65536), 655360);
  EXPECT_EQ(timeline.Reserve(5000, 4096), 655360 + 40960);
  EXPECT_EQ(timeline.Reserve(655360, 65536), 655360 + 40960 + 655360);
}

TEST(RateTimelineTest, GivesNoCreditBeforeTimeBegan) {
  RateTimeline timeline = HundredMegabytesPerSecond();
  EXPECT_EQ(timeline.Reserve(0, 1000), 10000);
}

TEST(RateTimelineTest, IdleTimeIsWorthTenMillisecondsAtMost) {
  RateTimeline timeline = HundredMegabytesPerSecond();
  // Idle for 4 ms: all of it counts, so what takes 1 ms was served 3 ms ago.
  EXPECT_EQ(timeline.Reserve(4 * kMillisecond, 100000), 1 * kMillisecond);
  // Idle for about a second: served as if asked for 10 ms ago. 1 MB takes just these 10 ms, and from then on
  // each byte takes its time.
  EXPECT_EQ(timeline.Reserve(1000 * kMillisecond, 1000000), 1000 * kMillisecond);
  EXPECT_EQ(timeline.Reserve(1000 * kMillisecond, 100000), 1001 * kMillisecond);
}

TEST(RateTimelineTest, ALateWakerLosesNothing) {
  RateTimeline timeline = HundredMegabytesPerSecond();
  // Each slice is asked for 100,000 ns after the one before was served, and still 10 slices are served by
  // 10 slices' time.
  RunClock::Nanos now = 0;
  RunClock::Nanos served = 0;
  for (int slice = 0; slice < 10; ++slice) {
    served = timeline.Reserve(now, 65536);
    now = served + 100000;
  }
  EXPECT_EQ(served, 10 * 655360);
}

TEST(RateTimelineTest, LosesNoPartOfANanosecond) {
  // 3 bytes a nanosecond: one byte takes a third, which alone would be rounded to nothing.
  RateTimeline timeline(3000000000, kCredit);
  EXPECT_EQ(timeline.Reserve(0, 1), 0);
  EXPECT_EQ(timeline.Reserve(0, 1), 0);
  EXPECT_EQ(timeline.Reserve(0, 1), 1);
  for (int i = 0; i < 3000; ++i) {
    timeline.Reserve(0, 1);
  }
  EXPECT_EQ(timeline.Reserve(0, 3), 1002);
}

TEST(RateTimelineTest, WhatHasNoLimitOrNoUnitsIsServedAtOnce) {
  RateTimeline unlimited(0, kCredit);
  EXPECT_EQ(unlimited.Reserve(5, 1 << 30), 5);
  EXPECT_EQ(unlimited.Reserve(5, 1), 5);

  RateTimeline timeline = HundredMegabytesPerSecond();
  timeline.Reserve(0, 65536);
  EXPECT_EQ(timeline.Reserve(7, 0), 7);
}

}  // namespace
}  // namespace rocktune
