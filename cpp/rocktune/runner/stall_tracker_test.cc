#include "rocktune/runner/stall_tracker.h"

#include <gtest/gtest.h>

#include "rocktune/util/run_clock.h"

namespace rocktune {
namespace {

// Runs the clock for a while and returns its value afterwards.
RunClock::Nanos Pass(RunClock* clock) {
  clock->Start();
  clock->SleepUntil(clock->Now() + 1'000'000);
  clock->Stop();
  return clock->Now();
}

constexpr WriteCondition kNormal = WriteCondition::kNormal;
constexpr WriteCondition kDelayed = WriteCondition::kDelayed;
constexpr WriteCondition kStopped = WriteCondition::kStopped;

TEST(StallTrackerTest, SumsTheTimeInEachCondition) {
  RunClock clock;
  StallTracker stalls(&clock);
  const RunClock::Nanos delayed = Pass(&clock);
  stalls.Observe(kDelayed);
  const RunClock::Nanos stopped = Pass(&clock);
  stalls.Observe(kStopped);
  const RunClock::Nanos normal = Pass(&clock);
  stalls.Observe(kNormal);
  Pass(&clock);
  EXPECT_EQ(stalls.Totals().stalled_ns, normal - delayed);
  EXPECT_EQ(stalls.Totals().stopped_ns, normal - stopped);
}

TEST(StallTrackerTest, CountsAStallInProgress) {
  RunClock clock;
  StallTracker stalls(&clock);
  stalls.Observe(kStopped);
  const RunClock::Nanos now = Pass(&clock);
  EXPECT_EQ(stalls.Totals().stalled_ns, now);
  EXPECT_EQ(stalls.Totals().stopped_ns, now);
}

TEST(StallTrackerTest, MeasuresTheLongestStopFromItsBeginning) {
  RunClock clock;
  StallTracker stalls(&clock);
  stalls.Observe(kStopped);
  const RunClock::Nanos first = Pass(&clock);
  EXPECT_EQ(stalls.TakeMaxStop(), first);
  const RunClock::Nanos second = Pass(&clock);
  stalls.Observe(kNormal);
  EXPECT_EQ(stalls.TakeMaxStop(), second);  // includes the part before the last call
  Pass(&clock);
  EXPECT_EQ(stalls.TakeMaxStop(), 0);
  stalls.Observe(kStopped);
  const RunClock::Nanos third = clock.Now();
  const RunClock::Nanos fourth = Pass(&clock);
  EXPECT_EQ(stalls.TakeMaxStop(), fourth - third);
}

}  // namespace
}  // namespace rocktune
