// The policy with file granularity.

#include <gtest/gtest.h>

#include <vector>

#include "rocktune/flsm/fake_flsm_tree.h"

namespace rocktune {
namespace {

// Sets file granularity with files of 10. A level is then full at its capacity less 5.
FlsmShape WithFiles(FlsmShape shape) {
  shape.granularity = FlsmGranularity::kFiles;
  shape.file_bytes = 10;
  return shape;
}

TEST(FlsmFilesPolicyTest, EachShapeHasItsTasks) {
  const std::vector<PolicyExample> examples = {
      {"a full level pushes files of all its runs",
       Tree({Level(1, 2, {50, 50}), Level(2, 1, {300}), Level(3, 1, {})}), "push files 1 [29 30 60 > 60]",
       ""},
      {"level 0 does not wait for a push",
       Tree({Level(1, 1, {100}), Level(2, 1, {300}), Level(3, 1, {})}, 10),
       "merge level 0 [0 > 29], push files 1 [30 60 > 60]", ""},
      {"a run with room merges arriving data", Tree({Level(1, 2, {20, 40}), Level(2, 1, {})}, 10),
       "merge level 0 [0 29 > 29]", ""},
      {"a new run if there are fewer than the policy has", Tree({Level(1, 2, {50}), Level(2, 1, {})}, 10),
       "merge level 0 [0 > 29]", ""},
      {"an older run with room, and all newer runs", Tree({Level(1, 2, {48, 30}), Level(2, 1, {})}, 10),
       "merge level 0 [0 29 30 > 30]", ""},
      {"the newest run if no run has room", Tree({Level(1, 2, {48, 46}), Level(2, 1, {})}, 10),
       "merge level 0 [0 29 > 29]", ""},
      {"a sealed run merges nothing and does not count", Tree({Level(1, 2, {48, -30}), Level(2, 1, {})}, 10),
       "merge level 0 [0 > 28]", ""},
      {"a level that is being pushed accepts no push from above",
       Tree({Level(1, 1, {100}), Level(2, 1, {1000}), Level(3, 1, {2000})}), "push files 2 [60 90 > 90]", ""},
  };
  for (const PolicyExample& example : examples) {
    EXPECT_EQ(Names(DueTasks(WithFiles(example.shape))), example.due) << example.what;
  }
  FlsmShape crept = WithFiles(Tree({Level(1, 4, {10}), Level(2, 1, {300})}));
  crept.levels[0].runs[0].physical = 1;
  EXPECT_EQ(Names(DueTasks(crept)), "push 1 [1 60 > 60]");
}

TEST(FlsmFilesPolicyTest, APushOfFilesLeavesTheOtherFiles) {
  FlsmShape shape = WithFiles(Tree({Level(1, 2, {50, 50}), Level(2, 1, {300}), Level(3, 1, {})}));
  const FlsmTask push = DueTasks(shape).front();
  Begin(&shape, push);
  EXPECT_EQ(ToText(shape), "0x0 | K=2 50< 50< | K=1 300> | K=1");
  CompleteFiles(&shape, push, {{29, 40, false, RunUse::kIdle}, {60, 359, false, RunUse::kIdle}});
  EXPECT_EQ(ToText(shape), "0x0 | K=2 40 | K=1 359 | K=1") << "the older run had no other file";
  EXPECT_TRUE(DueTasks(shape).empty());
}

// RusKey, section 7: one run more opens an empty active run, one run fewer seals the oldest.
TEST(FlsmFilesPolicyTest, APolicyChangeCostsNothing) {
  FlsmShape shape = WithFiles(Tree({Level(1, 1, {}), Level(2, 2, {400, 400}), Level(3, 1, {})}));
  SetPolicy(&shape, 2, 3, FlsmTransition::kFlexible);
  EXPECT_EQ(ToText(shape), "0x0 | K=1 | K=3 400 400 | K=1");
  EXPECT_TRUE(DueTasks(shape).empty());
  shape.levels[0].push = true;
  shape.levels[0].runs.push_back({30, 90, false, RunUse::kIdle});
  EXPECT_EQ(Names(DueTasks(shape)), "push 1 [30 > 58]")
      << "both runs have their third, so a new run is active";
  SetPolicy(&shape, 2, 1, FlsmTransition::kFlexible);
  EXPECT_EQ(ToText(shape), "0x0 | K=1 90 | K=1 400 400! | K=1") << "the oldest is sealed";
  EXPECT_EQ(Names(DueTasks(shape)), "push 1 [30 59 > 59]") << "the other run has room again";
  SetPolicy(&shape, 2, 2, FlsmTransition::kFlexible);
  EXPECT_EQ(ToText(shape), "0x0 | K=1 90 | K=2 400 400 | K=1");
}

}  // namespace
}  // namespace rocktune
