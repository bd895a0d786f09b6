#include "rocktune/adaptive/change_detector.h"

#include <gtest/gtest.h>

#include <random>

namespace rocktune {
namespace {

WorkloadSigns Reads(double share) { return {share, 0, 0, 0}; }

TEST(ChangeDetectorTest, ReportsAChangeAfterTwoMissions) {
  ChangeDetector detector;
  for (int mission = 0; mission < 20; ++mission) {
    EXPECT_FALSE(detector.Add(Reads(0.5)));
  }
  EXPECT_FALSE(detector.Add(Reads(0.3)));
  EXPECT_TRUE(detector.LastIsOdd());
  const auto why = detector.Add(Reads(0.3));
  ASSERT_TRUE(why);
  EXPECT_EQ(*why, "new workload: share of reads 0.3 instead of 0.5");
  EXPECT_FALSE(detector.LastIsOdd());
  for (int mission = 0; mission < 20; ++mission) {
    EXPECT_FALSE(detector.Add(Reads(0.3)));
  }
}

TEST(ChangeDetectorTest, OneOddMissionIsNoChange) {
  ChangeDetector detector;
  for (int mission = 0; mission < 40; ++mission) {
    EXPECT_FALSE(detector.Add(Reads(mission % 15 == 9 ? 0.1 : 0.5))) << mission;
  }
}

TEST(ChangeDetectorTest, SeesCostsThatChange) {
  ChangeDetector detector;
  for (int mission = 0; mission < 10; ++mission) {
    EXPECT_FALSE(detector.Add({0.5, 0, 0, 0.01 * (mission % 3)}));
  }
  EXPECT_FALSE(detector.Add({0.5, 0, 0, 2}));
  EXPECT_TRUE(detector.Add({0.5, 0, 0, 2}));
}

TEST(ChangeDetectorTest, KeepsItsRateOfFalseAlarms) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  int alarms = 0;
  // 200 workloads of 500 missions; shares vary by 4% and costs by 20%, far more than the prior assumes.
  for (int workload = 0; workload < 200; ++workload) {
    ChangeDetector detector;
    for (int mission = 0; mission < 500; ++mission) {
      const double share = 0.5 + 0.04 * normal(random);
      alarms += detector.Add({share, 0, 0.2 * normal(random), 0.2 * normal(random)}) ? 1 : 0;
    }
  }
  EXPECT_LE(alarms, 5) << "1 in 20,000 missions";
}

}  // namespace
}  // namespace rocktune
