#include "rocktune/workload/arrival.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rocktune {
namespace {

ArrivalSpec Sine(double mean, double amplitude, double period_s) {
  return {.kind = "sine", .operations_s = mean, .amplitude_operations_s = amplitude, .period_s = period_s};
}

TEST(ArrivalTest, FixedRateSpacesOperationsEvenly) {
  const Arrival arrival({.kind = "fixed_rate", .operations_s = 200});
  EXPECT_FALSE(arrival.closed());
  EXPECT_DOUBLE_EQ(arrival.SecondsOf(0), 0);
  EXPECT_DOUBLE_EQ(arrival.SecondsOf(100), 0.5);
  EXPECT_DOUBLE_EQ(arrival.OperationsUntil(2.5), 500);
}

TEST(ArrivalTest, SineHasTheMeanRateOverAPeriod) {
  const Arrival arrival(Sine(100, 80, 10));
  EXPECT_NEAR(arrival.OperationsUntil(10), 1000, 1e-9);
  EXPECT_NEAR(arrival.OperationsUntil(70), 7000, 1e-9);
  // At half a period: 500 + 80 * 10 / (2 pi) * (1 - cos(pi)) = 500 + 800 / pi = 754.6479.
  EXPECT_NEAR(arrival.OperationsUntil(5), 754.6479, 1e-4);
  // At a quarter: 250 + 400 / pi = 377.3240.
  EXPECT_NEAR(arrival.SecondsOf(377.3240), 2.5, 1e-6);
}

TEST(ArrivalTest, SineIsInvertedWhereItsRateIsZero) {
  for (double amplitude : {0.0, 50.0, 99.0, 100.0}) {
    const Arrival arrival(Sine(100, amplitude, 8));
    double previous = -1;
    for (int i = 0; i < 275; ++i) {
      const double operation = 7.3 * i;
      const double seconds = arrival.SecondsOf(operation);
      EXPECT_GT(seconds, previous);
      EXPECT_NEAR(arrival.OperationsUntil(seconds), operation, 1e-6) << amplitude;
      previous = seconds;
    }
  }
}

TEST(ArrivalTest, BurstsStartOnlyWhileOn) {
  // 100 a second during 0.5 of each 2 seconds: 50 a period.
  const Arrival arrival({.kind = "bursts", .operations_s = 100, .period_s = 2, .on_s = 0.5});
  EXPECT_DOUBLE_EQ(arrival.OperationsUntil(0.25), 25);
  EXPECT_DOUBLE_EQ(arrival.OperationsUntil(1.9), 50);
  EXPECT_DOUBLE_EQ(arrival.OperationsUntil(4), 100);
  EXPECT_DOUBLE_EQ(arrival.SecondsOf(49), 0.49);
  EXPECT_DOUBLE_EQ(arrival.SecondsOf(50), 2.0);
  EXPECT_DOUBLE_EQ(arrival.SecondsOf(120), 4.2);
}

TEST(ArrivalTest, APhaseStartsTheSessionWithinAPeriod) {
  // The trough of 100 + 80 sin(2 pi t / 10) is at t = 7.5 s, a phase of 3 pi / 2.
  ArrivalSpec spec = Sine(100, 80, 10);
  spec.phase_s = 7.5;
  const Arrival arrival(spec);
  EXPECT_NEAR(arrival.OperationsUntil(0), 0, 1e-9);
  // From the trough to the mean: 250 - 400 / pi = 122.6760; a whole period has 1,000.
  EXPECT_NEAR(arrival.OperationsUntil(2.5), 122.6760, 1e-4);
  EXPECT_NEAR(arrival.OperationsUntil(10), 1000, 1e-9);
  EXPECT_NEAR(arrival.SecondsOf(122.6760), 2.5, 1e-6);
  EXPECT_NEAR(arrival.SecondsOf(0), 0, 1e-9);
}

}  // namespace
}  // namespace rocktune
