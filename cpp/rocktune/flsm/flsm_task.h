#pragma once

#include <cstdint>
#include <vector>

#include "rocktune/flsm_shape.h"

namespace rocktune {

// What the compactions of an FLSM-tree do to its shape: no I/O, no clock.

// One compaction: everything in the input levels becomes one run in the output level, but for those by files.
struct FlsmTask {
  enum class Kind {
    kTakeIn,     // RocksDB's level 0 into level 1
    kPush,       // a level's runs into the next level; of level 1 also those that are still in level 0
    kPushFiles,  // some files of a level's runs, and what they overlap, into a run of the next level
    kRehome,     // one run to a lower slot of its block, to make room above
    kJoinFiles,  // some files of a run into the next older run of its level
  };
  Kind kind = Kind::kTakeIn;
  int level = 0;              // the logical level that the data comes from
  std::vector<int> inputs;    // physical levels; 0 is RocksDB's own level 0
  int output = 0;             // physical level
  uint64_t bytes = 0;         // that it reads; by files what it may read at most
  uint64_t level0_files = 0;  // of them, what it takes from level 0
  uint64_t level0_bytes = 0;

  // The logical level that its output belongs to.
  int OutputLevel() const { return kind == Kind::kRehome || kind == Kind::kJoinFiles ? level : level + 1; }
  // Whether it takes some files of its runs, and leaves the others where they are.
  bool IsByFiles() const { return kind == Kind::kPushFiles || kind == Kind::kJoinFiles; }

  bool operator==(const FlsmTask&) const = default;
};

// Marks what a task uses. REQUIRES: it is due.
void Begin(FlsmShape* shape, const FlsmTask& task);
// Puts a task's result in the place of its inputs. `written` is what came out, at most task.bytes; 0 if every
// entry was deleted. REQUIRES: not by files.
void Complete(FlsmShape* shape, const FlsmTask& task, uint64_t written);
// The same for a task by files, of whose runs `runs` tells what they hold now; what it leaves out is gone.
void CompleteFiles(FlsmShape* shape, const FlsmTask& task, const std::vector<FlsmRun>& runs);
// Takes the marks back of a task that failed; nothing else has changed, but that a greedy change of policy is
// forgotten.
void Abandon(FlsmShape* shape, const FlsmTask& task);

// Whether a run has its share of its level. Merges bring a little less than theirs, since entries overwrite
// each other. So what would exceed its capacity with half of what comes next counts as full; otherwise each
// run would take one push too many. With whole levels a run ends where its level holds the next multiple of
// 1/K of its capacity, so that there are K runs of it where K pushes do not make up a level: of ten pushes
// seven runs take 1, 2, 1, 2, 1, 2 and 1. After a change of policy it has at least half of its share.
bool IsFullRun(const FlsmShape& shape, int number, const FlsmRun& run);
// `further` is what the level would hold besides.
bool IsFullLevel(const FlsmShape& shape, int number, uint64_t further = 0);

}  // namespace rocktune
