#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocktune/flsm/flsm_shape.h"

namespace rocktune {

// The compaction policy of an FLSM-tree as pure functions of its shape: no I/O, no clock, nothing remembered.
// Whole levels are merged (section 4 of the paper).

// One compaction: everything in the input levels becomes one run in the output level.
struct FlsmTask {
  enum class Kind {
    kTakeIn,  // RocksDB's level 0 into level 1
    kPush,    // a level's runs into the next level
    kRehome,  // one run to a lower slot of its block, to make room above
  };
  Kind kind = Kind::kTakeIn;
  int level = 0;              // the logical level that the data comes from
  std::vector<int> inputs;    // physical levels; 0 is RocksDB's own level 0
  int output = 0;             // physical level
  uint64_t bytes = 0;         // that it reads
  uint64_t level0_files = 0;  // of them, what it takes from level 0
  uint64_t level0_bytes = 0;

  bool operator==(const FlsmTask&) const = default;
};

// How a level changes its policy (sections 4.1 and 4.2).
enum class FlsmTransition {
  kGreedy,    // push the level down at once, and begin anew
  kLazy,      // when the level is pushed down because it is full
  kFlexible,  // sealed runs stay as they are, the newest one gets the new capacity
};

// Sets a level's policy. A flexible change to more runs seals the newest one if it is too large for its new
// capacity; one to fewer lets it grow. REQUIRES: 1 <= policy <= T.
void SetPolicy(FlsmShape* shape, int level, int policy, FlsmTransition transition);

// The tasks that may begin now, none of which is in another's way, most urgent first. What is in work already
// is told by the runs' uses. Empty when there is nothing to do but wait.
std::vector<FlsmTask> DueTasks(const FlsmShape& shape);

// Marks what a task uses. REQUIRES: it is due.
void Begin(FlsmShape* shape, const FlsmTask& task);
// Puts a task's result in the place of its inputs. `written` is what came out, at most task.bytes; 0 if every
// entry was deleted.
void Complete(FlsmShape* shape, const FlsmTask& task, uint64_t written);
// Takes the marks back of a task that failed; nothing else has changed, but that a greedy change of policy is
// forgotten.
void Abandon(FlsmShape* shape, const FlsmTask& task);

}  // namespace rocktune
