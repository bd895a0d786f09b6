#include "rocktune/workload/session_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rocktune {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

struct Sessions {
  std::vector<SessionSpec> specs;
  std::vector<Arrival> arrivals;

  void Add(double seconds, const ArrivalSpec& arrival) {
    SessionSpec spec;
    spec.seconds = seconds;
    spec.arrival = arrival;
    specs.push_back(spec);
    arrivals.emplace_back(arrival);
  }
  SessionClock Clock(uint64_t thread = 0, uint64_t threads = 1) const {
    return {specs, arrivals, thread, threads};
  }
};

ArrivalSpec Rate(double operations_s) { return {.kind = "fixed_rate", .operations_s = operations_s}; }

TEST(SessionClockTest, ClosedSessionsFollowTheRunTimeAndRepeat) {
  Sessions sessions;
  sessions.Add(1, {});
  sessions.Add(2, {});
  SessionClock clock = sessions.Clock();
  EXPECT_EQ(clock.Next(0).intended_ns, -1);
  EXPECT_EQ(clock.Next(kSecond - 1).session, 0U);
  EXPECT_EQ(clock.Next(kSecond).session, 1U);
  EXPECT_EQ(clock.Next(3 * kSecond - 1).session, 1U);
  EXPECT_EQ(clock.Next(3 * kSecond).session, 0U);
  EXPECT_EQ(clock.Next(100 * kSecond).session, 1U);  // 100 = 33 * 3 + 1
}

TEST(SessionClockTest, ASessionOfZeroSecondsNeverEnds) {
  Sessions sessions;
  sessions.Add(1, {});
  sessions.Add(0, {});
  SessionClock clock = sessions.Clock();
  EXPECT_EQ(clock.Next(1'000'000 * kSecond).session, 1U);
}

TEST(SessionClockTest, ThreadsShareTheRateAndStartAtDifferentTimes) {
  Sessions sessions;
  sessions.Add(0, Rate(100));
  std::vector<int64_t> starts;
  for (uint64_t thread = 0; thread < 4; ++thread) {
    SessionClock clock = sessions.Clock(thread, 4);
    for (int i = 0; i < 25; ++i) {
      starts.push_back(clock.Next(0).intended_ns);
    }
  }
  std::sort(starts.begin(), starts.end());
  for (int i = 0; i < 100; ++i) {
    EXPECT_NEAR(static_cast<double>(starts[i]), i * 1e7, 1);
  }
}

TEST(SessionClockTest, RatesChangeWithTheSessions) {
  Sessions sessions;
  sessions.Add(1, Rate(10));
  sessions.Add(1, Rate(40));
  SessionClock clock = sessions.Clock();
  std::vector<int> counts(6);
  int64_t previous = -1;
  for (int i = 0; i < 150; ++i) {
    const SessionClock::Start start = clock.Next(0);
    EXPECT_GT(start.intended_ns, previous);
    EXPECT_EQ(start.session, static_cast<std::size_t>(start.intended_ns / kSecond % 2));
    previous = start.intended_ns;
    ++counts[start.intended_ns / kSecond];
  }
  EXPECT_EQ(counts, (std::vector<int>{10, 40, 10, 40, 10, 40}));
}

TEST(SessionClockTest, ThreadsShareTheRateOfShortSessions) {
  // Each session has one operation for 16 threads: thread 5 has one in every 16th session.
  Sessions sessions;
  sessions.Add(1, Rate(1));
  SessionClock clock = sessions.Clock(5, 16);
  EXPECT_EQ(clock.Next(0).intended_ns, 5 * kSecond);
  EXPECT_EQ(clock.Next(0).intended_ns, 21 * kSecond);
}

TEST(SessionClockTest, ALateStoreGetsEveryOperationOfASession) {
  Sessions sessions;
  sessions.Add(1, Rate(3));
  sessions.Add(0, {});
  SessionClock clock = sessions.Clock();
  for (int i = 0; i < 3; ++i) {
    const SessionClock::Start start = clock.Next(50 * kSecond);
    EXPECT_EQ(start.session, 0U);
    EXPECT_LT(start.intended_ns, kSecond);
  }
  const SessionClock::Start after = clock.Next(50 * kSecond);
  EXPECT_EQ(after.session, 1U);
  EXPECT_EQ(after.intended_ns, -1);
}

TEST(SessionClockTest, AClosedSessionReachedEarlyWaitsForItsBeginning) {
  Sessions sessions;
  sessions.Add(2, {.kind = "bursts", .operations_s = 4, .period_s = 2, .on_s = 0.5});
  sessions.Add(0, {});
  SessionClock clock = sessions.Clock();
  EXPECT_EQ(clock.Next(0).intended_ns, 0);
  EXPECT_EQ(clock.Next(0).intended_ns, kSecond / 4);
  const SessionClock::Start closed = clock.Next(kSecond / 4);
  EXPECT_EQ(closed.session, 1U);
  EXPECT_EQ(closed.intended_ns, 2 * kSecond);
  EXPECT_EQ(clock.Next(2 * kSecond).intended_ns, -1);
}

TEST(SessionClockTest, OperationsBeyondThePatienceAreLeftOut) {
  Sessions sessions;
  ArrivalSpec arrival = Rate(4);
  arrival.patience_s = 0.3;
  sessions.Add(2, arrival);
  sessions.Add(0, {});
  SessionClock clock = sessions.Clock(1, 2);
  EXPECT_EQ(clock.Next(0).intended_ns, kSecond / 4) << "thread 1 performs the second operation";
  EXPECT_EQ(clock.Next(kSecond).intended_ns, 3 * kSecond / 4) << "late, but within the patience";
  EXPECT_EQ(clock.Next(8 * kSecond / 5).intended_ns, 7 * kSecond / 4)
      << "the operation at 1.25 s is left out";
  EXPECT_EQ(clock.Next(50 * kSecond).session, 1U) << "the session has ended";
}

TEST(SessionClockTest, TheSessionAfterAMissedOneHasItsOwnRate) {
  Sessions sessions;
  ArrivalSpec arrival = Rate(4);
  arrival.patience_s = 0.1;
  sessions.Add(1, arrival);
  sessions.Add(0, Rate(1));
  SessionClock clock = sessions.Clock();
  clock.Next(0);
  EXPECT_EQ(clock.Next(10 * kSecond).intended_ns, kSecond);
  EXPECT_EQ(clock.Next(10 * kSecond).intended_ns, 2 * kSecond);
}

}  // namespace
}  // namespace rocktune
