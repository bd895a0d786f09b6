// The policy never blocks: a property test over random shapes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "rocktune/flsm/fake_flsm_tree.h"

namespace rocktune {
namespace {

// Random shapes with random running tasks never block. If no task runs and level 0 has more files than may
// wait there, a task is due. Doing due tasks ends.
class FlsmProgressTest : public testing::TestWithParam<FlsmGranularity> {
 protected:
  // Returns the maximum number of files that may wait in level 0.
  static uint64_t Waiting(const FlsmShape& shape) {
    const auto policy = static_cast<uint64_t>(shape.Policy(1));
    return shape.granularity == FlsmGranularity::kFiles ? 0 : std::min(policy, shape.max_level0_files);
  }

  // Completes a task whose output has `percent` of its input bytes. A push of files moves a part of each run.
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

TEST_P(FlsmProgressTest, ATaskIsAlwaysPossible) {
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
      ASSERT_EQ(Violation(shape), "") << "seed " << seed << ", step " << step << ": " << ToText(shape);
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

}  // namespace
}  // namespace rocktune
