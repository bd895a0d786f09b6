#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rocktune/flsm_options.h"

namespace rocktune {

// The shape of an FLSM-tree (Mo et al., SIGMOD'24, section 4) as plain data.
//
// Each sorted run is one physical level of a RocksDB database and fills it alone. Logical level i owns the
// `slots` physical levels from 1 + (i - 1) * slots on; newer runs have lower numbers. RocksDB's own level 0
// holds flushed files: the newest runs of level 1, as long as its policy has room for them. Runs never move
// to a lower level number of another logical level.

// What a running compaction does with a run.
enum class RunUse {
  kIdle,
  kLeaving,   // it is being merged into the next level
  kArriving,  // it is being written, or rewritten with data from above
};

struct FlsmRun {
  int physical = 0;
  uint64_t bytes = 0;
  // True if the run takes no more data, whatever the policy. With FlsmGranularity::kFiles, where full runs
  // need no mark: the run exceeds the policy, and leaves with the data that others push.
  bool sealed = false;
  RunUse use = RunUse::kIdle;
};

struct FlsmLevel {
  int policy = 1;             // K, from 1 (leveling) to T (tiering)
  int next_policy = 0;        // K from the level's next push on; 0 means no change
  bool push = false;          // true if the level is to be pushed down although it is not full
  std::vector<FlsmRun> runs;  // newest first, by ascending physical level
  bool in_pieces = false;  // true while it is pushed in pieces; what is left of it is pushed after a restart

  uint64_t bytes() const;          // of all runs
  uint64_t staying_bytes() const;  // of the runs that are not leaving
};

struct FlsmShape {
  int size_ratio = 10;        // T, at least 2
  uint64_t level1_bytes = 0;  // capacity of level 1, above 0
  int slots = 30;             // at least size_ratio + 2; more slots need fewer moves of runs within a level
  FlsmGranularity granularity = FlsmGranularity::kLevels;
  uint64_t file_bytes = 0;         // size of a table; used with FlsmGranularity::kFiles
  int deepest_policy = 0;          // K of the deepest level in use; 0 means the level's own
  uint64_t max_level0_files = 10;  // files that may wait in level 0 whatever the policy of level 1
  uint64_t level0_files = 0;       // files in level 0 that no compaction uses
  uint64_t level0_bytes = 0;       // bytes of these files
  bool level0_busy = false;        // true while a compaction uses level 0; RocksDB runs one at a time
  std::vector<FlsmLevel> levels;   // [0] is level 1

  FlsmLevel& level(int number) { return levels[static_cast<std::size_t>(number) - 1]; }
  const FlsmLevel& level(int number) const { return levels[static_cast<std::size_t>(number) - 1]; }
  // Returns the number of levels.
  int deepest() const { return static_cast<int>(levels.size()); }
  // Returns the deepest level that has a run, at least 1.
  int LevelsInUse() const;
  // Returns K of a level; deepest_policy counts.
  int Policy(int number) const;
  // Returns the bytes of a full level: level1_bytes * T^(number - 1).
  uint64_t Capacity(int number) const;
  // Returns the bytes that one push from the level above brings, on average.
  uint64_t Incoming(int number) const;
  // Return the first and the last physical level of a logical one.
  int FirstSlot(int number) const { return 1 + (number - 1) * slots; }
  int LastSlot(int number) const { return number * slots; }
  // Returns the number of physical levels, level 0 included.
  int PhysicalLevels() const { return 1 + deepest() * slots; }
};

// Returns a shape as one line of text, for people and tests: `3x2 | K=2 40 50! | K=1 300<` has 3 files with 2
// bytes together in level 0, then each level with its runs from the newest on; `!` is sealed, `<` leaving,
// `>` arriving.
std::string ToText(const FlsmShape& shape);

}  // namespace rocktune
