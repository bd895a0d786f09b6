#include "rocktune/flsm/flsm_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "rocktune/flsm/flsm_shape.h"

namespace rocktune {
namespace {

// A tree of T = 10 whose level 1 holds 100, so that a push into level i brings a tenth of its capacity.
FlsmShape Tree(const std::vector<FlsmLevel>& levels, uint64_t level0_bytes = 0) {
  FlsmShape shape;
  shape.level1_bytes = 100;
  shape.level0_files = level0_bytes / 10;
  shape.level0_bytes = level0_bytes;
  shape.levels = levels;
  return shape;
}

// Runs at the bottom of a level's block, given from the newest; a negative size is a sealed run.
FlsmLevel Level(int number, int policy, const std::vector<int>& sizes, int slots = 30) {
  FlsmLevel level;
  level.policy = policy;
  int physical = number * slots - static_cast<int>(sizes.size());
  for (const int size : sizes) {
    level.runs.push_back({++physical, static_cast<uint64_t>(std::abs(size)), size < 0, RunUse::kIdle});
  }
  return level;
}

std::string Names(const std::vector<FlsmTask>& tasks) {
  std::string names;
  for (const FlsmTask& task : tasks) {
    names += names.empty() ? "" : ", ";
    names += task.kind == FlsmTask::Kind::kTakeIn      ? "take in"
             : task.kind == FlsmTask::Kind::kPush      ? "push " + std::to_string(task.level)
             : task.kind == FlsmTask::Kind::kPushFiles ? "push files " + std::to_string(task.level)
             : task.kind == FlsmTask::Kind::kJoinFiles ? "join " + std::to_string(task.level)
                                                       : "rehome " + std::to_string(task.level);
    names += " [";
    for (const int input : task.inputs) {
      names += std::to_string(input) + " ";
    }
    names += "> " + std::to_string(task.output) + "]";
  }
  return names;
}

// Does all that is due at once, again and again until nothing is, and tells the shape.
std::string Settled(FlsmShape shape) {
  for (std::vector<FlsmTask> due = DueTasks(shape); !due.empty(); due = DueTasks(shape)) {
    for (const FlsmTask& task : due) {
      Begin(&shape, task);
    }
    for (const FlsmTask& task : due) {
      Complete(&shape, task, task.bytes);
    }
  }
  EXPECT_EQ(Broken(shape), "");
  return ToText(shape);
}

struct Example {
  const char* what;
  FlsmShape shape;
  const char* due;
  const char* settled;
};

TEST(FlsmPolicyTest, EachShapeHasItsTasks) {
  const std::vector<Example> examples = {
      {"nothing to do", Tree({Level(1, 2, {20}), Level(2, 1, {})}), "", "0x0 | K=2 20 | K=1"},
      {"what was flushed is a run of level 1 already", Tree({Level(1, 2, {}), Level(2, 1, {})}, 20), "",
       "2x20 | K=2 | K=1"},
      {"beside those that level 1 has", Tree({Level(1, 3, {20}), Level(2, 1, {})}, 20), "",
       "2x20 | K=3 20 | K=1"},
      {"more than the policy has land at the bottom of level 1's block",
       Tree({Level(1, 2, {}), Level(2, 1, {})}, 30), "take in [0 > 30]", "0x0 | K=2 30 | K=1"},
      {"they merge with the newest run", Tree({Level(1, 2, {10}), Level(2, 1, {})}, 20),
       "take in [0 30 > 30]", "0x0 | K=2 30 | K=1"},
      {"a run that has its share of the level is sealed", Tree({Level(1, 2, {30}), Level(2, 1, {})}, 20),
       "take in [0 30 > 30]", "0x0 | K=2 50! | K=1"},
      {"beside a sealed run a new one begins", Tree({Level(1, 2, {-50}), Level(2, 1, {})}, 20),
       "take in [0 > 29]", "0x0 | K=2 20 50! | K=1"},
      {"a full level is merged into the next one's newest run",
       Tree({Level(1, 2, {-50, -50}), Level(2, 1, {300}), Level(3, 1, {})}), "push 1 [29 30 60 > 60]",
       "0x0 | K=2 | K=1 400 | K=1"},
      {"with tiering a full level becomes a run of its own",
       Tree({Level(1, 10, {-10, -10, -10, -10, -10, -10, -10, -10, -10, -10}), Level(2, 10, {-100}),
             Level(3, 10, {})}),
       "push 1 [21 22 23 24 25 26 27 28 29 30 > 59]", "0x0 | K=10 | K=10 100! 100! | K=10"},
      {"of a level that is full with them they go along, into a run of their own",
       Tree({Level(1, 10, {}), Level(2, 10, {-100}), Level(3, 10, {})}, 100), "push 1 [0 > 59]",
       "0x0 | K=10 | K=10 100! 100! | K=10"},
      {"with the runs above which they lie",
       Tree({Level(1, 5, {-60}), Level(2, 10, {-100}), Level(3, 10, {})}, 40), "push 1 [0 30 > 59]",
       "0x0 | K=5 | K=10 100! 100! | K=10"},
      {"but not into a merge, which would hold level 0 up",
       Tree({Level(1, 5, {-60}), Level(2, 1, {300}), Level(3, 1, {})}, 40), "take in [0 > 29]",
       "0x0 | K=5 | K=1 400 | K=1"},
      {"what is flushed while a level goes does not wait for it",
       Tree({Level(1, 1, {-100}), Level(2, 1, {300}), Level(3, 1, {})}, 20),
       "take in [0 > 29], push 1 [30 60 > 60]", "0x0 | K=1 20 | K=1 400 | K=1"},
      {"two full levels go at once, the deeper one first",
       Tree({Level(1, 1, {-100}), Level(2, 1, {-1000}), Level(3, 1, {2000}), Level(4, 1, {})}),
       "push 1 [30 > 59], push 2 [60 90 > 90]", "0x0 | K=1 | K=1 100 | K=1 3000 | K=1"},
      {"the deepest level keeps what it has", Tree({Level(1, 1, {-100})}), "", "0x0 | K=1 100!"},
  };
  for (const Example& example : examples) {
    EXPECT_EQ(Names(DueTasks(example.shape)), example.due) << example.what;
    EXPECT_EQ(Settled(example.shape), example.settled) << example.what;
  }
}

TEST(FlsmPolicyTest, TheOnlyRunOfALevelMovesDownWhenItIsWrittenAnew) {
  FlsmShape shape = Tree({Level(1, 1, {20}), Level(2, 1, {})}, 10);
  shape.levels[0].runs[0].physical = 12;
  EXPECT_EQ(Names(DueTasks(shape)), "take in [0 12 > 30]");
  EXPECT_EQ(Settled(shape), "0x0 | K=1 30 | K=1");
}

TEST(FlsmPolicyTest, RunsThatCreptUpAreMovedDownOneByOne) {
  FlsmShape shape = Tree({Level(1, 10, {-10, -10}), Level(2, 1, {})});
  shape.levels[0].runs[0].physical = 4;
  shape.levels[0].runs[1].physical = 5;
  EXPECT_EQ(Names(DueTasks(shape)), "rehome 1 [5 > 30]");
  EXPECT_EQ(Settled(shape), "0x0 | K=10 10! 10! | K=1");
}

TEST(FlsmPolicyTest, WithoutRoomAboveALevelGoesThoughItIsNotFull) {
  FlsmShape shape = Tree({Level(1, 10, {-10, -10}), Level(2, 1, {200}), Level(3, 1, {})}, 110);
  shape.levels[0].runs[0].physical = 1;
  shape.levels[0].runs[1].physical = 2;
  EXPECT_EQ(Names(DueTasks(shape)), "push 1 [1 2 60 > 60]") << "nothing can be taken in meanwhile";
  shape.level0_files = 1;
  shape.level0_bytes = 10;
  EXPECT_EQ(Settled(shape), "1x10 | K=10 | K=1 220 | K=1");
}

TEST(FlsmPolicyTest, WhatIsInWorkIsNotTakenAgain) {
  FlsmShape shape = Tree({Level(1, 1, {-100}), Level(2, 1, {300}), Level(3, 1, {})}, 20);
  const std::vector<FlsmTask> due = DueTasks(shape);
  for (const FlsmTask& task : due) {
    Begin(&shape, task);
  }
  EXPECT_EQ(ToText(shape), "0x0 | K=1 0> 100!< | K=1 300> | K=1");
  EXPECT_EQ(Names(DueTasks(shape)), "");
  shape.level0_files = 2;
  shape.level0_bytes = 20;
  EXPECT_EQ(Names(DueTasks(shape)), "") << "level 0 is compacted once at a time";
}

TEST(FlsmPolicyTest, OnlySoMuchWaitsInLevel0) {
  FlsmShape shape = Tree({Level(1, 10, {}), Level(2, 10, {})}, 40);
  EXPECT_EQ(Names(DueTasks(shape)), "");
  shape.max_level0_files = 3;
  EXPECT_EQ(Names(DueTasks(shape)), "take in [0 > 30]");
  FlsmShape full = Tree({Level(1, 5, {-60}), Level(2, 10, {-100}), Level(3, 10, {})}, 40);
  full.max_level0_files = 0;
  EXPECT_EQ(Names(DueTasks(full)), "take in [0 > 29]") << "as the paper has it, always";
}

TEST(FlsmPolicyTest, AFailedPushLeavesLevel0WhatItTookAlong) {
  FlsmShape shape = Tree({Level(1, 5, {-60}), Level(2, 10, {-100}), Level(3, 10, {})}, 40);
  const FlsmTask push = DueTasks(shape).front();
  Begin(&shape, push);
  EXPECT_EQ(ToText(shape), "0x0 | K=5 60!< | K=10 0> 100! | K=10");
  shape.level0_files = 1;
  shape.level0_bytes = 10;
  Abandon(&shape, push);
  EXPECT_EQ(ToText(shape), "5x50 | K=5 60! | K=10 100! | K=10");
}

TEST(FlsmPolicyTest, TheLargestLevelMayHaveAPolicyOfItsOwn) {
  FlsmShape shape = Tree({Level(1, 10, {-10}), Level(2, 10, {300}), Level(3, 10, {})}, 100);
  shape.deepest_policy = 1;
  EXPECT_EQ(ToText(shape), "10x100 | K=10 10! | K=1 300 | K=10") << "of those that hold something";
  EXPECT_EQ(Settled(shape), "0x0 | K=10 | K=1 410 | K=10");
  shape.levels[2].runs.push_back({90, 50, false, RunUse::kIdle});
  EXPECT_EQ(ToText(shape), "10x100 | K=10 10! | K=10 300 | K=1 50");
}

TEST(FlsmPolicyTest, AFailedTaskLeavesTheShapeAsItWas) {
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

TEST(FlsmPolicyTest, AMergeThatLeavesNothingLeavesNoRun) {
  FlsmShape shape = Tree({Level(1, 1, {-100}), Level(2, 1, {300}), Level(3, 1, {})});
  const FlsmTask push = DueTasks(shape).front();
  Begin(&shape, push);
  Complete(&shape, push, 0);
  EXPECT_EQ(ToText(shape), "0x0 | K=1 | K=1 | K=1");
}

// With files of 10, so that a level is full five short of its capacity.
FlsmShape WithFiles(FlsmShape shape) {
  shape.granularity = FlsmGranularity::kFiles;
  shape.file_bytes = 10;
  return shape;
}

TEST(FlsmFilesPolicyTest, EachShapeHasItsTasks) {
  const std::vector<Example> examples = {
      {"a full level goes in part, all its runs with it",
       Tree({Level(1, 2, {50, 50}), Level(2, 1, {300}), Level(3, 1, {})}), "push files 1 [29 30 60 > 60]",
       ""},
      {"level 0 does not wait for that", Tree({Level(1, 1, {100}), Level(2, 1, {300}), Level(3, 1, {})}, 10),
       "take in [0 > 29], push files 1 [30 60 > 60]", ""},
      {"a run that has room takes in what comes", Tree({Level(1, 2, {20, 40}), Level(2, 1, {})}, 10),
       "take in [0 29 > 29]", ""},
      {"a new one begins while there are fewer than the policy has",
       Tree({Level(1, 2, {50}), Level(2, 1, {})}, 10), "take in [0 > 29]", ""},
      {"then an older one with room, with all above it", Tree({Level(1, 2, {48, 30}), Level(2, 1, {})}, 10),
       "take in [0 29 30 > 30]", ""},
      {"or the newest if none has", Tree({Level(1, 2, {48, 46}), Level(2, 1, {})}, 10), "take in [0 29 > 29]",
       ""},
      {"a sealed one takes nothing in and does not count",
       Tree({Level(1, 2, {48, -30}), Level(2, 1, {})}, 10), "take in [0 > 28]", ""},
      {"a level that is being pushed takes nothing in from above",
       Tree({Level(1, 1, {100}), Level(2, 1, {1000}), Level(3, 1, {2000})}), "push files 2 [60 90 > 90]", ""},
  };
  for (const Example& example : examples) {
    EXPECT_EQ(Names(DueTasks(WithFiles(example.shape))), example.due) << example.what;
  }
  FlsmShape crept = WithFiles(Tree({Level(1, 4, {10}), Level(2, 1, {300})}));
  crept.levels[0].runs[0].physical = 1;
  EXPECT_EQ(Names(DueTasks(crept)), "push 1 [1 60 > 60]");
}

TEST(FlsmFilesPolicyTest, APushOfFilesLeavesTheRest) {
  FlsmShape shape = WithFiles(Tree({Level(1, 2, {50, 50}), Level(2, 1, {300}), Level(3, 1, {})}));
  const FlsmTask push = DueTasks(shape).front();
  Begin(&shape, push);
  EXPECT_EQ(ToText(shape), "0x0 | K=2 50< 50< | K=1 300> | K=1");
  CompleteFiles(&shape, push, {{29, 40, false, RunUse::kIdle}, {60, 359, false, RunUse::kIdle}});
  EXPECT_EQ(ToText(shape), "0x0 | K=2 40 | K=1 359 | K=1") << "the older run had nothing else";
  EXPECT_TRUE(DueTasks(shape).empty());
}

// Section 7's rules.
TEST(FlsmFilesPolicyTest, AChangeOfPolicyCostsNothing) {
  FlsmShape shape = WithFiles(Tree({Level(1, 1, {}), Level(2, 2, {400, 400}), Level(3, 1, {})}));
  SetPolicy(&shape, 2, 3, FlsmTransition::kFlexible);
  EXPECT_EQ(ToText(shape), "0x0 | K=1 | K=3 400 400 | K=1");
  EXPECT_TRUE(DueTasks(shape).empty());
  shape.levels[0].push = true;
  shape.levels[0].runs.push_back({30, 90, false, RunUse::kIdle});
  EXPECT_EQ(Names(DueTasks(shape)), "push 1 [30 > 58]") << "both have a third: a new run is the active one";
  SetPolicy(&shape, 2, 1, FlsmTransition::kFlexible);
  EXPECT_EQ(ToText(shape), "0x0 | K=1 90 | K=1 400 400! | K=1") << "the oldest is sealed";
  EXPECT_EQ(Names(DueTasks(shape)), "push 1 [30 59 > 59]") << "and the other one has room again";
  SetPolicy(&shape, 2, 2, FlsmTransition::kFlexible);
  EXPECT_EQ(ToText(shape), "0x0 | K=1 90 | K=2 400 400 | K=1");
}

// Figure 4 of the paper: level 3 of capacity 6000 with runs of 1000 under K = 6, and what K = 10 and 3 make
// of it.
FlsmShape Figure4() {
  FlsmShape shape =
      Tree({Level(1, 2, {}), Level(2, 1, {}), Level(3, 6, {200, -1000, -1000}), Level(4, 1, {})});
  shape.level1_bytes = 60;
  return shape;
}

TEST(FlsmTransitionTest, MoreRunsShrinkWhatComes) {
  FlsmShape shape = Figure4();
  SetPolicy(&shape, 3, 10, FlsmTransition::kFlexible);
  EXPECT_EQ(ToText(shape), "0x0 | K=2 | K=1 | K=10 200 1000! 1000! | K=1") << "200 of 600: still open";
  EXPECT_TRUE(DueTasks(shape).empty()) << "no cost";
  shape = Figure4();
  shape.level(3).runs.front().bytes = 700;
  SetPolicy(&shape, 3, 10, FlsmTransition::kFlexible);
  EXPECT_EQ(ToText(shape), "0x0 | K=2 | K=1 | K=10 700! 1000! 1000! | K=1") << "700 are more than 600";
}

TEST(FlsmTransitionTest, FewerRunsLetTheNewestGrow) {
  FlsmShape shape = Figure4();
  SetPolicy(&shape, 3, 3, FlsmTransition::kFlexible);
  EXPECT_EQ(ToText(shape), "0x0 | K=2 | K=1 | K=3 200 1000! 1000! | K=1") << "what is sealed stays so";
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

// From any shape that can be reached, with any tasks in work, things go on: when nothing is in work and level
// 0 holds more than is level 1's, something is due; and what is due ends.
class FlsmProgressTest : public testing::TestWithParam<FlsmGranularity> {
 protected:
  // How many files may stay in level 0.
  static uint64_t Waiting(const FlsmShape& shape) {
    const auto policy = static_cast<uint64_t>(shape.Policy(1));
    return shape.granularity == FlsmGranularity::kFiles ? 0 : std::min(policy, shape.max_level0_files);
  }

  // What a push of files leaves: a part of each run goes into the output.
  static void End(FlsmShape* shape, const FlsmTask& task, uint64_t percent) {
    if (task.kind != FlsmTask::Kind::kPushFiles) {
      Complete(shape, task, task.bytes * percent / 100);
      return;
    }
    std::vector<FlsmRun> runs;
    uint64_t moved = 0;
    uint64_t held = 0;
    for (int number = task.level; number <= task.level + 1; ++number) {
      for (const FlsmRun& run : shape->level(number).runs) {
        if (run.physical == task.output) {
          held = run.bytes;
        } else if (std::find(task.inputs.begin(), task.inputs.end(), run.physical) != task.inputs.end()) {
          const uint64_t part = std::min(run.bytes, std::max(shape->file_bytes, run.bytes / 4));
          moved += part;
          runs.push_back({run.physical, run.bytes - part, false, RunUse::kIdle});
        }
      }
    }
    runs.push_back({task.output, held + moved * percent / 100, false, RunUse::kIdle});
    CompleteFiles(shape, task, runs);
  }
};

TEST_P(FlsmProgressTest, ThereIsAlwaysAWayOn) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](int bound) {
      return static_cast<int>(random() % static_cast<uint32_t>(bound));
    };
    FlsmShape shape;
    shape.size_ratio = 2 + below(9);
    shape.slots = shape.size_ratio + 2 + below(2 * shape.size_ratio);
    shape.level1_bytes = 10 * static_cast<uint64_t>(shape.size_ratio);
    shape.levels.resize(6);
    shape.granularity = GetParam();
    shape.file_bytes = 5;
    shape.max_level0_files = static_cast<uint64_t>(below(11));
    for (FlsmLevel& level : shape.levels) {
      level.policy = 1 + below(shape.size_ratio);
    }
    std::vector<FlsmTask> running;
    for (int step = 0; step < 4000; ++step) {
      const int what = below(10);
      if (what < 4) {
        shape.level0_files += 1;
        shape.level0_bytes += 10;
      } else if (what < 5) {
        const bool lazy = GetParam() == FlsmGranularity::kLevels && below(3) == 0;
        const auto transition = below(2) == 0 ? FlsmTransition::kGreedy : FlsmTransition::kFlexible;
        SetPolicy(&shape, 1 + below(5), 1 + below(shape.size_ratio),
                  lazy ? FlsmTransition::kLazy : transition);
      } else if (what < 7 && !running.empty()) {
        const auto task = running.begin() + below(static_cast<int>(running.size()));
        if (below(20) == 0) {
          Abandon(&shape, *task);
        } else {
          End(&shape, *task, static_cast<uint64_t>(80 + below(21)));
        }
        running.erase(task);
      } else if (const std::vector<FlsmTask> due = DueTasks(shape); !due.empty()) {
        const FlsmTask& task = due[static_cast<std::size_t>(below(static_cast<int>(due.size())))];
        Begin(&shape, task);
        running.push_back(task);
      }
      ASSERT_EQ(Broken(shape), "") << "seed " << seed << ", step " << step << ": " << ToText(shape);
      if (running.empty() && shape.level0_files > Waiting(shape)) {
        ASSERT_FALSE(DueTasks(shape).empty())
            << "seed " << seed << ", step " << step << ": " << ToText(shape);
      }
    }
    for (const FlsmTask& task : running) {
      End(&shape, task, 100);
    }
    int tasks = 0;
    for (std::vector<FlsmTask> due = DueTasks(shape); !due.empty(); due = DueTasks(shape)) {
      Begin(&shape, due.front());
      End(&shape, due.front(), 100);
      ASSERT_LT(++tasks, 10'000) << "seed " << seed << ": " << ToText(shape);
    }
    EXPECT_LE(shape.level0_files, Waiting(shape));
  }
}

INSTANTIATE_TEST_SUITE_P(Granularities, FlsmProgressTest,
                         testing::Values(FlsmGranularity::kLevels, FlsmGranularity::kFiles),
                         [](const testing::TestParamInfo<FlsmGranularity>& each) {
                           return std::string(each.param == FlsmGranularity::kFiles ? "Files" : "Levels");
                         });

TEST(FlsmPolicyTest, WithNothingToDoRunsThatAreTooManyAreJoined) {
  struct IdleExample {
    const char* what;
    FlsmShape shape;
    const char* task;
  };
  const std::vector<IdleExample> examples = {
      {"as many as the policy has", Tree({Level(1, 2, {-50, 40}), Level(2, 1, {300})}), ""},
      {"a level that is half full would have half of its runs", Tree({Level(1, 4, {-20, -30})}), ""},
      {"the cheapest neighbours first", Tree({Level(1, 1, {20, 30, 10}), Level(2, 2, {-100, -200, -200})}),
       "join 1 [29 30 > 30]"},
      {"of all levels", Tree({Level(1, 10, {20}), Level(2, 2, {-300, -200, -200})}), "join 2 [59 60 > 60]"},
      {"not while anything is due", Tree({Level(1, 1, {20, 30})}, 10), ""},
  };
  for (const IdleExample& example : examples) {
    const std::optional<FlsmTask> task = IdleTask(example.shape);
    EXPECT_EQ(task ? Names({*task}) : "", example.task) << example.what;
  }
  FlsmShape shape = Tree({Level(1, 1, {20, 30})});
  shape.levels[0].runs[0].use = RunUse::kArriving;
  EXPECT_FALSE(IdleTask(shape)) << "not while anything is in work";
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
  EXPECT_EQ(ToText(shape), "0x0 | K=1 32! 28!") << "the run that is gone has left nothing";
  EXPECT_EQ(Broken(shape), "");
}

}  // namespace
}  // namespace rocktune
