// The three transitions between policies (RusKey, sections 4.1 and 4.2).

#include <gtest/gtest.h>

#include "rocktune/flsm/fake_flsm_tree.h"

namespace rocktune {
namespace {

// Returns the tree of RusKey, figure 4: level 3 has a capacity of 6000 and, with K = 6, runs of 1000. The
// tests change K to 10 and to 3, as the figure does.
FlsmShape Figure4() {
  FlsmShape shape =
      Tree({Level(1, 2, {}), Level(2, 1, {}), Level(3, 6, {200, -1000, -1000}), Level(4, 1, {})});
  shape.level1_bytes = 60;
  return shape;
}

TEST(FlsmTransitionTest, MoreRunsShrinkTheActiveRun) {
  FlsmShape shape = Figure4();
  SetPolicy(&shape, 3, 10, FlsmTransition::kFlexible);
  EXPECT_EQ(ToText(shape), "0x0 | K=2 | K=1 | K=10 200 1000! 1000! | K=1")
      << "200 of 600: the newest run stays open";
  EXPECT_TRUE(DueTasks(shape).empty()) << "no cost";
  shape = Figure4();
  shape.level(3).runs.front().bytes = 700;
  SetPolicy(&shape, 3, 10, FlsmTransition::kFlexible);
  EXPECT_EQ(ToText(shape), "0x0 | K=2 | K=1 | K=10 700! 1000! 1000! | K=1")
      << "700 of 600: the newest run is sealed";
}

TEST(FlsmTransitionTest, FewerRunsLetTheNewestGrow) {
  FlsmShape shape = Figure4();
  SetPolicy(&shape, 3, 3, FlsmTransition::kFlexible);
  EXPECT_EQ(ToText(shape), "0x0 | K=2 | K=1 | K=3 200 1000! 1000! | K=1") << "sealed runs stay sealed";
  EXPECT_TRUE(DueTasks(shape).empty());
}

TEST(FlsmTransitionTest, GreedyPushesTheLevelAtOnce) {
  FlsmShape shape = Figure4();
  SetPolicy(&shape, 3, 10, FlsmTransition::kGreedy);
  EXPECT_EQ(Names(DueTasks(shape)), "push 3 [88 89 90 > 120]");
  EXPECT_EQ(Settled(shape), "0x0 | K=2 | K=1 | K=10 | K=1 2200");
}

TEST(FlsmTransitionTest, LazyWaitsUntilTheLevelIsPushed) {
  FlsmShape shape = Figure4();
  SetPolicy(&shape, 3, 10, FlsmTransition::kLazy);
  EXPECT_TRUE(DueTasks(shape).empty());
  EXPECT_EQ(shape.level(3).policy, 6);
  shape.level(3).runs.front().bytes = 4000;
  EXPECT_EQ(Settled(shape), "0x0 | K=2 | K=1 | K=10 | K=1 6000");
  SetPolicy(&shape, 2, 4, FlsmTransition::kLazy);
  EXPECT_EQ(shape.level(2).policy, 4) << "an empty level has nothing to wait for";
}

}  // namespace
}  // namespace rocktune
