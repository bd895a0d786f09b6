#pragma once

#include <cstdint>
#include <vector>

#include "rocktune/flsm_shape.h"

namespace rocktune {

// The compactions of an FLSM-tree and their effect on its shape, without I/O and without a clock. The
// functions throw no exception.

// One compaction. It merges its inputs into one run at the output level; by files it merges only some files.
struct FlsmTask {
  enum class Kind {
    kMergeLevel0,  // merges RocksDB's level 0 into level 1
    kPush,         // merges a level's runs into the next level; those of level 1 perhaps with level 0
    kPushFiles,    // merges some files of a level's runs, and what they overlap, into a run of the next level
    kMoveDown,     // moves a run to a lower slot of its block, to make room above it
    kJoinFiles,    // merges some files of a run into the next older run of the same level
  };
  Kind kind = Kind::kMergeLevel0;
  int level = 0;              // logical level that the data comes from; 0 is RocksDB's level 0
  std::vector<int> inputs;    // physical levels, from the newest on; 0 is RocksDB's level 0
  int output = 0;             // physical level
  uint64_t bytes = 0;         // bytes that it reads; by files, the maximum
  uint64_t level0_files = 0;  // part of the inputs that is in level 0
  uint64_t level0_bytes = 0;

  // Returns the logical level of the output.
  int OutputLevel() const { return kind == Kind::kMoveDown || kind == Kind::kJoinFiles ? level : level + 1; }
  // True if it uses only some files of its runs and leaves the others in place.
  bool IsByFiles() const { return kind == Kind::kPushFiles || kind == Kind::kJoinFiles; }
  // True for tasks of the first thread, which must stay short: level 0 waits for them.
  bool IsSmall() const { return level <= 1 && kind != Kind::kMoveDown; }

  bool operator==(const FlsmTask&) const = default;
};

// Returns the task as it is done in pieces: a run with which it merges stays at its place, where the pieces
// are added to it, so that the level has no further run if the merge is interrupted.
FlsmTask InPlace(const FlsmShape& shape, const FlsmTask& task);
// Returns the bytes that a piece of a merge reads and the next piece reads once more, on average. Each run's
// part of a piece ends within a table of the next older run, which is taken as a whole. Assumes runs that
// spread evenly over the keys.
double OverlapOfPieces(const FlsmShape& shape, const FlsmTask& task);
// Returns the maximum bytes that a piece of the task reads. `max_merge_bytes` is FlsmOptions' field; for 0 it
// is kPieceOverlaps times the overlap, so that pieces cost 1%, or the whole task if that is less.
uint64_t MaxPieceBytes(const FlsmShape& shape, const FlsmTask& task, uint64_t max_merge_bytes);
inline constexpr double kPieceOverlaps = 100;
// True if a task is done in pieces of at most `max_bytes`: it is a push of a whole level, without level 0,
// that reads more.
bool IsInPieces(const FlsmTask& task, uint64_t max_bytes);

// Marks the runs that a task uses, and reserves its output's place. REQUIRES: DueTasks or IdleTask returns
// the task for this shape.
void Begin(FlsmShape* shape, const FlsmTask& task);
// Replaces a task's inputs by its output of `written` bytes, at most task.bytes; 0 means that every entry was
// deleted, and no run is left. REQUIRES: the task has begun and is not by files.
void Complete(FlsmShape* shape, const FlsmTask& task, uint64_t written);
// Ends a task by files. `runs` holds the present sizes of its runs; a run that is missing there is removed.
// REQUIRES: the task has begun.
void CompleteFiles(FlsmShape* shape, const FlsmTask& task, const std::vector<FlsmRun>& runs);
// Ends a task that failed: the shape is as before Begin, except that a greedy policy change's push is not
// repeated.
void Abandon(FlsmShape* shape, const FlsmTask& task);

// True if a run has its share of the level, 1/K of the capacity.
// - A run that lacks less than half a push counts as full. Merges bring a little less than their share,
//   because entries overwrite each other; otherwise each run would need one push more.
// - With whole levels a run ends where its level holds the next multiple of 1/K of the capacity. A level then
//   has K runs even if its T pushes do not divide by K: with T = 10 and K = 7 the runs take 1, 2, 1, 2, 1, 2
//   and 1 pushes.
// - With whole levels a run with less than half of its share is never full, which matters after a policy
//   change.
bool IsFullRun(const FlsmShape& shape, int number, const FlsmRun& run);
// True if a level's runs that stay, with `further` bytes added, lack less than half a push of its capacity.
bool IsFullLevel(const FlsmShape& shape, int number, uint64_t further = 0);

}  // namespace rocktune
