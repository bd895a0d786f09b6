#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/flsm/flsm_task.h"

namespace rocktune {

// Trees of examples for tests of the policy, and texts to compare them.

// Returns a tree of T = 10 whose level 1 has a capacity of 100. A push into a level brings a tenth of its
// capacity.
inline FlsmShape Tree(const std::vector<FlsmLevel>& levels, uint64_t level0_bytes = 0) {
  FlsmShape shape;
  shape.level1_bytes = 100;
  shape.level0_files = level0_bytes / 10;
  shape.level0_bytes = level0_bytes;
  shape.levels = levels;
  return shape;
}

// Returns a level with runs at the bottom of its block. `sizes` lists them from the newest on; a negative
// size means a sealed run.
inline FlsmLevel Level(int number, int policy, const std::vector<int>& sizes, int slots = 30) {
  FlsmLevel level;
  level.policy = policy;
  int physical = number * slots - static_cast<int>(sizes.size());
  for (const int size : sizes) {
    level.runs.push_back({++physical, static_cast<uint64_t>(std::abs(size)), size < 0, RunUse::kIdle});
  }
  return level;
}

// Returns tasks as text: "push 1 [29 30 60 > 60]" merges physical levels 29, 30 and 60 into 60.
inline std::string Names(const std::vector<FlsmTask>& tasks) {
  std::string names;
  for (const FlsmTask& task : tasks) {
    names += names.empty() ? "" : ", ";
    names += task.kind == FlsmTask::Kind::kMergeLevel0 ? "merge level 0"
             : task.kind == FlsmTask::Kind::kPush      ? "push " + std::to_string(task.level)
             : task.kind == FlsmTask::Kind::kPushFiles ? "push files " + std::to_string(task.level)
             : task.kind == FlsmTask::Kind::kJoinFiles ? "join " + std::to_string(task.level)
                                                       : "move down " + std::to_string(task.level);
    names += " [";
    for (const int input : task.inputs) {
      names += std::to_string(input) + " ";
    }
    names += "> " + std::to_string(task.output) + "]";
  }
  return names;
}

// Does all due tasks at the same time, repeatedly until none is due. Returns the shape as text.
inline std::string Settled(FlsmShape shape) {
  for (std::vector<FlsmTask> due = DueTasks(shape); !due.empty(); due = DueTasks(shape)) {
    for (const FlsmTask& task : due) {
      Begin(&shape, task);
    }
    for (const FlsmTask& task : due) {
      Complete(&shape, task, task.bytes);
    }
  }
  EXPECT_EQ(Violation(shape), "");
  return ToText(shape);
}

// A shape, its due tasks, and the shape when all tasks have been done.
struct PolicyExample {
  const char* what;
  FlsmShape shape;
  const char* due;
  const char* settled;
};

}  // namespace rocktune
