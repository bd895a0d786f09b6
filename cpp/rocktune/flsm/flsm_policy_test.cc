// The policy with whole levels: which tasks are due, and what they do to a shape.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "rocktune/flsm/fake_flsm_tree.h"

namespace rocktune {
namespace {

TEST(FlsmPolicyTest, EachShapeHasItsTasks) {
  const std::vector<PolicyExample> examples = {
      {"nothing is due", Tree({Level(1, 2, {20}), Level(2, 1, {})}), "", "0x0 | K=2 20 | K=1"},
      {"flushed files are runs of level 1", Tree({Level(1, 2, {}), Level(2, 1, {})}, 20), "",
       "2x20 | K=2 | K=1"},
      {"with another run of level 1", Tree({Level(1, 3, {20}), Level(2, 1, {})}, 20), "",
       "2x20 | K=3 20 | K=1"},
      {"more files than the policy has runs are merged at the bottom of level 1's block",
       Tree({Level(1, 2, {}), Level(2, 1, {})}, 30), "merge level 0 [0 > 30]", "0x0 | K=2 30 | K=1"},
      {"files merge with the newest run", Tree({Level(1, 2, {10}), Level(2, 1, {})}, 20),
       "merge level 0 [0 30 > 30]", "0x0 | K=2 30 | K=1"},
      {"a run with its share of the level is sealed", Tree({Level(1, 2, {30}), Level(2, 1, {})}, 20),
       "merge level 0 [0 30 > 30]", "0x0 | K=2 50! | K=1"},
      {"after a sealed run, files become a new run", Tree({Level(1, 2, {-50}), Level(2, 1, {})}, 20),
       "merge level 0 [0 > 29]", "0x0 | K=2 20 50! | K=1"},
      {"a full level merges into the newest run of the next level",
       Tree({Level(1, 2, {-50, -50}), Level(2, 1, {300}), Level(3, 1, {})}), "push 1 [29 30 60 > 60]",
       "0x0 | K=2 | K=1 400 | K=1"},
      {"with tiering a full level becomes a run of its own",
       Tree({Level(1, 10, {-10, -10, -10, -10, -10, -10, -10, -10, -10, -10}), Level(2, 10, {-100}),
             Level(3, 10, {})}),
       "push 1 [21 22 23 24 25 26 27 28 29 30 > 59]", "0x0 | K=10 | K=10 100! 100! | K=10"},
      {"level 0 fills level 1 and is pushed as a run of its own",
       Tree({Level(1, 10, {}), Level(2, 10, {-100}), Level(3, 10, {})}, 100), "push 1 [0 > 59]",
       "0x0 | K=10 | K=10 100! 100! | K=10"},
      {"level 0 is pushed with the runs of level 1",
       Tree({Level(1, 5, {-60}), Level(2, 10, {-100}), Level(3, 10, {})}, 40), "push 1 [0 30 > 59]",
       "0x0 | K=5 | K=10 100! 100! | K=10"},
      {"level 0 is not pushed into a merge, which would block it",
       Tree({Level(1, 5, {-60}), Level(2, 1, {300}), Level(3, 1, {})}, 40), "merge level 0 [0 > 29]",
       "0x0 | K=5 | K=1 400 | K=1"},
      {"level 0 does not wait for a push of level 1",
       Tree({Level(1, 1, {-100}), Level(2, 1, {300}), Level(3, 1, {})}, 20),
       "merge level 0 [0 > 29], push 1 [30 60 > 60]", "0x0 | K=1 20 | K=1 400 | K=1"},
      {"two full levels are pushed at the same time",
       Tree({Level(1, 1, {-100}), Level(2, 1, {-1000}), Level(3, 1, {2000}), Level(4, 1, {})}),
       "push 1 [30 > 59], push 2 [60 90 > 90]", "0x0 | K=1 | K=1 100 | K=1 3000 | K=1"},
      {"the deepest level is not pushed", Tree({Level(1, 1, {-100})}), "", "0x0 | K=1 100!"},
  };
  for (const PolicyExample& example : examples) {
    EXPECT_EQ(Names(DueTasks(example.shape)), example.due) << example.what;
    EXPECT_EQ(Settled(example.shape), example.settled) << example.what;
  }
}

TEST(FlsmPolicyTest, ALevelsOnlyRunMovesDownWhenItIsRewritten) {
  FlsmShape shape = Tree({Level(1, 1, {20}), Level(2, 1, {})}, 10);
  shape.levels[0].runs[0].physical = 12;
  EXPECT_EQ(Names(DueTasks(shape)), "merge level 0 [0 12 > 30]");
  EXPECT_EQ(Settled(shape), "0x0 | K=1 30 | K=1");
}

TEST(FlsmPolicyTest, RunsMoveDownWhenFewSlotsAreFree) {
  FlsmShape shape = Tree({Level(1, 10, {-10, -10}), Level(2, 1, {})});
  shape.levels[0].runs[0].physical = 4;
  shape.levels[0].runs[1].physical = 5;
  EXPECT_EQ(Names(DueTasks(shape)), "move down 1 [5 > 30]");
  EXPECT_EQ(Settled(shape), "0x0 | K=10 10! 10! | K=1");
}

TEST(FlsmPolicyTest, ALevelWithoutFreeSlotsIsPushedEarly) {
  FlsmShape shape = Tree({Level(1, 10, {-10, -10}), Level(2, 1, {200}), Level(3, 1, {})}, 110);
  shape.levels[0].runs[0].physical = 1;
  shape.levels[0].runs[1].physical = 2;
  EXPECT_EQ(Names(DueTasks(shape)), "push 1 [1 2 60 > 60]") << "level 0 must wait meanwhile";
  shape.level0_files = 1;
  shape.level0_bytes = 10;
  EXPECT_EQ(Settled(shape), "1x10 | K=10 | K=1 220 | K=1");
}

TEST(FlsmPolicyTest, RunningTasksAreNotDueAgain) {
  FlsmShape shape = Tree({Level(1, 1, {-100}), Level(2, 1, {300}), Level(3, 1, {})}, 20);
  const std::vector<FlsmTask> due = DueTasks(shape);
  for (const FlsmTask& task : due) {
    Begin(&shape, task);
  }
  EXPECT_EQ(ToText(shape), "0x0 | K=1 0> 100!< | K=1 300> | K=1");
  EXPECT_EQ(Names(DueTasks(shape)), "");
  shape.level0_files = 2;
  shape.level0_bytes = 20;
  EXPECT_EQ(Names(DueTasks(shape)), "") << "one compaction of level 0 at a time";
}

TEST(FlsmPolicyTest, MaxLevel0FilesLimitsLevel0) {
  FlsmShape shape = Tree({Level(1, 10, {}), Level(2, 10, {})}, 40);
  EXPECT_EQ(Names(DueTasks(shape)), "");
  shape.max_level0_files = 3;
  EXPECT_EQ(Names(DueTasks(shape)), "merge level 0 [0 > 30]");
  FlsmShape full = Tree({Level(1, 5, {-60}), Level(2, 10, {-100}), Level(3, 10, {})}, 40);
  full.max_level0_files = 0;
  EXPECT_EQ(Names(DueTasks(full)), "merge level 0 [0 > 29]")
      << "as in the paper, every flush is merged at once";
}

TEST(FlsmPolicyTest, AFailedPushReturnsItsFilesToLevel0) {
  FlsmShape shape = Tree({Level(1, 5, {-60}), Level(2, 10, {-100}), Level(3, 10, {})}, 40);
  const FlsmTask push = DueTasks(shape).front();
  Begin(&shape, push);
  EXPECT_EQ(ToText(shape), "0x0 | K=5 60!< | K=10 0> 100! | K=10");
  shape.level0_files = 1;
  shape.level0_bytes = 10;
  Abandon(&shape, push);
  EXPECT_EQ(ToText(shape), "5x50 | K=5 60! | K=10 100! | K=10");
}

TEST(FlsmPolicyTest, TheDeepestLevelInUseCanHaveItsOwnPolicy) {
  FlsmShape shape = Tree({Level(1, 10, {-10}), Level(2, 10, {300}), Level(3, 10, {})}, 100);
  shape.deepest_policy = 1;
  EXPECT_EQ(ToText(shape), "10x100 | K=10 10! | K=1 300 | K=10") << "level 2 is the deepest with a run";
  EXPECT_EQ(Settled(shape), "0x0 | K=10 | K=1 410 | K=10");
  shape.levels[2].runs.push_back({90, 50, false, RunUse::kIdle});
  EXPECT_EQ(ToText(shape), "10x100 | K=10 10! | K=10 300 | K=1 50");
}

TEST(FlsmPolicyTest, AFailedTaskRestoresTheShape) {
  const FlsmShape before = Tree({Level(1, 1, {-100}), Level(2, 1, {300}), Level(3, 1, {})}, 20);
  FlsmShape shape = before;
  const std::vector<FlsmTask> due = DueTasks(shape);
  for (const FlsmTask& task : due) {
    Begin(&shape, task);
  }
  for (const FlsmTask& task : due) {
    Abandon(&shape, task);
  }
  EXPECT_EQ(ToText(shape), ToText(before));
  EXPECT_EQ(Names(DueTasks(shape)), Names(due));
}

TEST(FlsmPolicyTest, AMergeWithoutOutputLeavesNoRun) {
  FlsmShape shape = Tree({Level(1, 1, {-100}), Level(2, 1, {300}), Level(3, 1, {})});
  const FlsmTask push = DueTasks(shape).front();
  Begin(&shape, push);
  Complete(&shape, push, 0);
  EXPECT_EQ(ToText(shape), "0x0 | K=1 | K=1 | K=1");
}

TEST(FlsmPolicyTest, AnIdleStoreJoinsExcessRuns) {
  struct IdleExample {
    const char* what;
    FlsmShape shape;
    const char* task;
  };
  const std::vector<IdleExample> examples = {
      {"no more runs than the policy", Tree({Level(1, 2, {-50, 40}), Level(2, 1, {300})}), ""},
      {"a half full level has half of its policy's runs", Tree({Level(1, 4, {-20, -30})}), ""},
      {"the cheapest adjacent pair", Tree({Level(1, 1, {20, 30, 10}), Level(2, 2, {-100, -200, -200})}),
       "join 1 [29 30 > 30]"},
      {"the cheapest pair of all levels", Tree({Level(1, 10, {20}), Level(2, 2, {-300, -200, -200})}),
       "join 2 [59 60 > 60]"},
      {"not while a task is due", Tree({Level(1, 1, {20, 30})}, 10), ""},
  };
  for (const IdleExample& example : examples) {
    const std::optional<FlsmTask> task = IdleTask(example.shape);
    EXPECT_EQ(task ? Names({*task}) : "", example.task) << example.what;
  }
  FlsmShape shape = Tree({Level(1, 1, {20, 30})});
  shape.levels[0].runs[0].use = RunUse::kArriving;
  EXPECT_FALSE(IdleTask(shape)) << "not while a task runs";
}

TEST(FlsmPolicyTest, JoinedRunsKeepTheirOrder) {
  FlsmShape shape = Tree({Level(1, 1, {-20, -30, -10})});
  const FlsmTask task = *IdleTask(shape);
  Begin(&shape, task);
  EXPECT_FALSE(IdleTask(shape)) << "one at a time";
  CompleteFiles(&shape, task, {{29, 12, false, RunUse::kIdle}, {30, 28, false, RunUse::kIdle}});
  EXPECT_EQ(ToText(shape), "0x0 | K=1 20! 12! 28!");
  const FlsmTask next = *IdleTask(shape);
  Begin(&shape, next);
  CompleteFiles(&shape, next, {{29, 32, false, RunUse::kIdle}});
  EXPECT_EQ(ToText(shape), "0x0 | K=1 32! 28!") << "an empty run is removed";
  EXPECT_EQ(Violation(shape), "");
}

}  // namespace
}  // namespace rocktune
