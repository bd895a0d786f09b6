#include "rocktune/device/rate_timeline.h"

#include <gtest/gtest.h>

namespace rocktune {
namespace {

constexpr RunClock::Nanos kMillisecond = 1000000;
constexpr RunClock::Nanos kCredit = 10 * kMillisecond;

// 100 MB/s: a byte takes 10 ns.
RateTimeline HundredMegabytesPerSecond() { return RateTimeline(100000000, kCredit); }

TEST(RateTimelineTest, ServesInTheOrderOfRequests) {
  RateTimeline timeline = HundredMegabytesPerSecond();
  // A writer's slice of 65,536 bytes takes 655,360 ns. A reader asks for 4,096 bytes 5,000 ns later and is
  // served next: 655,360 + 40,960. The writer's next slice comes after the reader.
  EXPECT_EQ(timeline.Reserve(0, 65536), 655360);
  EXPECT_EQ(timeline.Reserve(5000, 4096), 655360 + 40960);
  EXPECT_EQ(timeline.Reserve(655360, 65536), 655360 + 40960 + 655360);
}

TEST(RateTimelineTest, GivesNoCreditAtTimeZero) {
  RateTimeline timeline = HundredMegabytesPerSecond();
  EXPECT_EQ(timeline.Reserve(0, 1000), 10000);
}

TEST(RateTimelineTest, IdleTimeGivesAtMostTenMillisecondsOfCredit) {
  RateTimeline timeline = HundredMegabytesPerSecond();
  // Idle for 4 ms, which is within the credit: a request of 1 ms ended 3 ms ago.
  EXPECT_EQ(timeline.Reserve(4 * kMillisecond, 100000), 1 * kMillisecond);
  // Idle for about a second: served as if requested 10 ms ago. 1 MB uses up these 10 ms; later bytes take
  // their full time.
  EXPECT_EQ(timeline.Reserve(1000 * kMillisecond, 1000000), 1000 * kMillisecond);
  EXPECT_EQ(timeline.Reserve(1000 * kMillisecond, 100000), 1001 * kMillisecond);
}

TEST(RateTimelineTest, LateWakingDoesNotLowerTheRate) {
  RateTimeline timeline = HundredMegabytesPerSecond();
  // Each slice is requested 100,000 ns after the one before was served. The 10 slices still end after 10
  // slices' time.
  RunClock::Nanos now = 0;
  RunClock::Nanos served = 0;
  for (int slice = 0; slice < 10; ++slice) {
    served = timeline.Reserve(now, 65536);
    now = served + 100000;
  }
  EXPECT_EQ(served, 10 * 655360);
}

TEST(RateTimelineTest, CarriesFractionsOfANanosecond) {
  // 3 bytes per nanosecond: a byte takes a third of one, which would round to 0.
  RateTimeline timeline(3000000000, kCredit);
  EXPECT_EQ(timeline.Reserve(0, 1), 0);
  EXPECT_EQ(timeline.Reserve(0, 1), 0);
  EXPECT_EQ(timeline.Reserve(0, 1), 1);
  for (int i = 0; i < 3000; ++i) {
    timeline.Reserve(0, 1);
  }
  EXPECT_EQ(timeline.Reserve(0, 3), 1002);
}

TEST(RateTimelineTest, UnlimitedOrEmptyRequestsAreServedAtOnce) {
  RateTimeline unlimited(0, kCredit);
  EXPECT_EQ(unlimited.Reserve(5, 1 << 30), 5);
  EXPECT_EQ(unlimited.Reserve(5, 1), 5);

  RateTimeline timeline = HundredMegabytesPerSecond();
  timeline.Reserve(0, 65536);
  EXPECT_EQ(timeline.Reserve(7, 0), 7);
}

}  // namespace
}  // namespace rocktune
