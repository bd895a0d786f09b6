#include "rocktune/adaptive/level_forecast.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/flsm/flsm_simulator.h"

namespace rocktune {
namespace {

constexpr uint64_t kFlush = 1000;
constexpr double kForever = std::numeric_limits<double>::infinity();

FlsmSimulator TreeOf(int policy, int size_ratio, uint64_t flushes, int level0_runs = 0) {
  FlsmOptions layout;
  layout.size_ratio = size_ratio;
  layout.levels = 5;
  layout.policies = {policy};
  layout.level0_runs = level0_runs;
  FlsmSimulator tree(EmptyShape(layout, kFlush, kFlush), kFlush, false);
  tree.Write(flushes * kFlush);
  return tree;
}

// Returns the runs of a level; level 1 has the files of level 0, too.
double RunsOf(const FlsmShape& shape, int level) {
  return static_cast<double>(shape.level(level).runs.size() + (level == 1 ? shape.level0_files : 0));
}

// Compares the forecast of each level with what the simulator then does, to `flushes_off` flushes and a share
// of `share_off`. A mission is one flush.
void ExpectForecastHolds(FlsmSimulator tree, int policy, int flushes, double flushes_off = 0,
                         double share_off = 0) {
  FlsmShape begin = tree.shape();
  for (int level = 1; level <= begin.deepest(); ++level) {
    tree.SetPolicy(level, policy, FlsmTransition::kFlexible);
  }
  begin.level(2).policy = policy;  // level 1's forecast takes it as given
  const std::vector<uint64_t> before = tree.level_bytes();
  std::vector<double> runs(before.size(), 0);
  for (int flush = 0; flush < flushes; ++flush) {
    for (int level = 1; level <= begin.deepest(); ++level) {
      runs[static_cast<std::size_t>(level) - 1] += RunsOf(tree.shape(), level);
    }
    tree.Write(kFlush);
  }
  Arrivals arrivals = FlushArrivals(kFlush, static_cast<double>(kFlush));
  // The last flush falls on the horizon, within which it counts.
  const CostHorizon horizon{flushes + 1e-6, kForever};
  for (int level = 1; level <= begin.LevelsInUse(); ++level) {
    const LevelForecast forecast = ForecastLevel(begin, level, policy, arrivals, horizon, false);
    const auto place = static_cast<std::size_t>(level) - 1;
    const auto moved = static_cast<double>(tree.level_bytes()[place] - before[place]);
    EXPECT_NEAR(forecast.moved_bytes, moved, (share_off + 1e-9) * moved + flushes_off * kFlush + 1)
        << "level " << level << ", K " << policy;
    EXPECT_NEAR(forecast.runs, runs[place], 1e-3 * flushes + flushes_off + 0.1)
        << "level " << level << ", K " << policy;
    arrivals = PushArrivals(begin, level, arrivals);
  }
}

TEST(LevelForecastTest, AgreesWithTheSimulatorForEveryChangeOfPolicy) {
  for (const int before : {1, 3, 10}) {
    for (int policy = 1; policy <= 10; ++policy) {
      ExpectForecastHolds(TreeOf(before, 10, 4567), policy, 390);
    }
  }
}

TEST(LevelForecastTest, AgreesWithTheSimulatorForOtherSizeRatios) {
  for (const int size_ratio : {4, 7}) {
    for (int policy = 1; policy <= size_ratio; ++policy) {
      ExpectForecastHolds(TreeOf(2, size_ratio, 234), policy, 300);
    }
  }
}

TEST(LevelForecastTest, AgreesWithTheSimulatorIfFlushedFilesWaitInLevel0) {
  // Whether a push merges with a run below, so that the files must be merged first, is forecast on average.
  for (const int before : {1, 3, 10}) {
    for (int policy = 1; policy <= 10; ++policy) {
      ExpectForecastHolds(TreeOf(before, 10, 4567, 10), policy, 390, 20, 0.01);
    }
  }
}

TEST(LevelForecastTest, ExtrapolatesFromWholeCycles) {
  const FlsmShape shape = TreeOf(4, 10, 10000).shape();
  const Arrivals arrivals = FlushArrivals(kFlush, static_cast<double>(kFlush));
  const auto moved = [&](double missions) {
    return ForecastLevel(shape, 1, 4, arrivals, {missions + 1e-6, kForever}, false).moved_bytes;
  };
  // The level is empty at the beginning, so 400 flushes are 40 cycles.
  EXPECT_NEAR(moved(40'000), 100 * moved(400), 1e-6 * moved(40'000));
}

TEST(LevelForecastTest, WithoutWritesOnlyTheRunsCost) {
  const FlsmShape shape = TreeOf(4, 10, 4567).shape();
  const LevelForecast forecast = ForecastLevel(shape, 2, 1, FlushArrivals(kFlush, 0), {50, kForever}, false);
  EXPECT_EQ(forecast.moved_bytes, 0);
  EXPECT_DOUBLE_EQ(forecast.runs, 50.0 * static_cast<double>(shape.level(2).runs.size()));
}

TEST(LevelForecastTest, FarMissionsCountLess) {
  const CostHorizon horizon{1000, 100};
  EXPECT_NEAR(horizon.Weight(0, 1), 1, 0.01);
  EXPECT_NEAR(horizon.Weight(100, 101), 0.5, 0.01);
  EXPECT_DOUBLE_EQ(horizon.Weight(0, 30) + horizon.Weight(30, 70), horizon.Weight(0, 70));
}

}  // namespace
}  // namespace rocktune
