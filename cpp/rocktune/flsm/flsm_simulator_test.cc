#include "rocktune/flsm/flsm_simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace rocktune {
namespace {

// Returns an empty tree whose levels all have one policy. Level 1 has the size of T buffers.
FlsmShape Empty(int size_ratio, uint64_t buffer_bytes, int levels, int policy) {
  FlsmShape shape;
  shape.size_ratio = size_ratio;
  shape.slots = 3 * size_ratio;
  shape.level1_bytes = buffer_bytes * static_cast<uint64_t>(size_ratio);
  shape.levels.resize(static_cast<std::size_t>(levels));
  for (FlsmLevel& level : shape.levels) {
    level.policy = policy;
  }
  return shape;
}

TEST(FlsmSimulatorTest, LevelingMatchesAHandCalculation) {
  // T = 4, a buffer of 10. The first flush stays in level 0 as level 1's run. With each further flush the run
  // is rewritten, as 20, 30 and 40; the last time into level 2 at once, which is empty. So 40 user bytes cost
  // 40 flushed and 90 merged bytes.
  FlsmSimulator tree(Empty(4, 10, 3, 1), 10);
  tree.Write(40);
  EXPECT_EQ(ToText(tree.shape()), "0x0 | K=1 | K=1 40 | K=1");
  EXPECT_EQ(tree.written_bytes(), 40 + 90);
  EXPECT_EQ(tree.read_bytes(), 90);
  // The second time level 2 has a run. The same 90 bytes are merged in level 1, and then 80 into level 2.
  tree.Write(40);
  EXPECT_EQ(ToText(tree.shape()), "0x0 | K=1 | K=1 80 | K=1");
  EXPECT_EQ(tree.written_bytes(), 2 * (40 + 90) + 80);
}

TEST(FlsmSimulatorTest, TieringMatchesAHandCalculation) {
  // T = 4: the files of four flushes are four runs, all in level 0. The fourth fills level 1, and they are
  // merged into one run of level 2.
  FlsmSimulator tree(Empty(4, 10, 3, 4), 10);
  tree.Write(30);
  EXPECT_EQ(ToText(tree.shape()), "3x30 | K=4 | K=4 | K=4");
  EXPECT_EQ(tree.written_bytes(), 30);
  tree.Write(10);
  EXPECT_EQ(ToText(tree.shape()), "0x0 | K=4 | K=4 40! | K=4");
  EXPECT_EQ(tree.WriteAmplification(), 2);
  EXPECT_EQ(tree.Runs(), 1);
}

TEST(FlsmSimulatorTest, MoreRunsMeanLessWriteAmplification) {
  double amplification = 1e9;
  std::map<int, int> runs;
  for (int policy = 1; policy <= 10; ++policy) {
    FlsmSimulator tree(Empty(10, 64 << 20, 6, policy), 64 << 20);
    tree.Write(uint64_t{600} << 30);  // fills most of level 4
    EXPECT_LT(tree.WriteAmplification(), amplification) << policy;
    amplification = tree.WriteAmplification();
    runs[policy] = tree.Runs();
  }
  EXPECT_GT(runs[10], 2 * runs[1]);
}

TEST(FlsmSimulatorTest, ALevelHasTheRunsOfItsPolicy) {
  for (int policy = 1; policy <= 10; ++policy) {
    FlsmSimulator tree(Empty(10, 64 << 20, 6, policy), 64 << 20);
    uint64_t max_runs = 0;
    for (int flush = 0; flush < 1100; ++flush) {
      tree.Write(64 << 20);
      const FlsmShape& shape = tree.shape();
      max_runs =
          std::max({max_runs, shape.level0_files + shape.level(1).runs.size(), shape.level(2).runs.size()});
    }
    // The last run may need a single push. The level is then full and pushed at once, so the run never shows.
    EXPECT_LE(max_runs, policy);
    EXPECT_GE(max_runs, std::max(1, policy - 1));
  }
}

TEST(FlsmSimulatorTest, WithFilesLevelsStayFull) {
  double amplification = 1e9;
  for (const int policy : {1, 3, 10}) {
    FlsmShape empty = Empty(10, 64 << 20, 5, policy);
    empty.granularity = FlsmGranularity::kFiles;
    empty.file_bytes = 64 << 20;
    FlsmSimulator tree(empty, 64 << 20);
    tree.Write(uint64_t{600} << 30);
    EXPECT_LT(tree.WriteAmplification(), amplification) << policy;
    amplification = tree.WriteAmplification();
    for (int number = 2; number <= 3; ++number) {  // level 1 has few files, which are pushed together
      const auto bytes = static_cast<double>(tree.shape().level(number).bytes());
      EXPECT_GT(bytes, 0.5 * static_cast<double>(tree.shape().Capacity(number))) << ToText(tree.shape());
      EXPECT_LE(bytes, 1.1 * static_cast<double>(tree.shape().Capacity(number))) << ToText(tree.shape());
    }
  }
}

TEST(FlsmSimulatorTest, OnlyAGreedyTransitionPushesTheLevel) {
  for (const FlsmTransition transition :
       {FlsmTransition::kFlexible, FlsmTransition::kLazy, FlsmTransition::kGreedy}) {
    FlsmSimulator tree(Empty(10, 10, 4, 1), 10);
    tree.Write(550);  // level 2 holds 500, level 1 50
    const uint64_t before = tree.written_bytes();
    tree.SetPolicy(2, 10, transition);
    // Level 3 is empty, so even the greedy push only moves the run.
    EXPECT_EQ(tree.written_bytes(), before);
    EXPECT_EQ(tree.shape().level(3).bytes(), transition == FlsmTransition::kGreedy ? 500 : 0);
  }
}

}  // namespace
}  // namespace rocktune
