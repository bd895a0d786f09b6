#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rocktune {

// The shape of an FLSM-tree (Mo et al., SIGMOD'24, section 4) as plain data.
//
// Every sorted run is one physical level of a RocksDB database, of which it is all. Logical level i has a
// block of `slots` physical levels, 1 + (i - 1) * slots and on; newer runs lie at lower ones, and RocksDB's
// own level 0 holds what was flushed: the newest runs of level 1, as long as it has room for them under its
// policy. Runs never move up.

inline constexpr int kMaxFlsmLevels = 12;

// What a level is pushed down in.
enum class FlsmGranularity {
  kLevels,  // all of it at once
  kFiles,   // a few files with what they overlap, as often as it is too full (the paper's section 7)
};

// What a task in work does with a run.
enum class RunUse {
  kIdle,
  kLeaving,   // it is being merged into the next level
  kArriving,  // it is being written, or written anew with what comes from above
};

struct FlsmRun {
  int physical = 0;
  uint64_t bytes = 0;
  // Takes nothing more in, whatever the policy is now; with files, where full runs need no mark: is one more
  // than the policy has, and only goes along with what others push.
  bool sealed = false;
  RunUse use = RunUse::kIdle;
};

struct FlsmLevel {
  int policy = 1;             // K: the runs of a full level, from 1 (leveling) to T (tiering)
  int next_policy = 0;        // takes the policy's place when the level has been pushed down; 0 for none
  bool push = false;          // is to be pushed down although it is not full
  std::vector<FlsmRun> runs;  // newest first, so by ascending physical level

  uint64_t bytes() const;          // of all runs
  uint64_t staying_bytes() const;  // of those that are not leaving
};

struct FlsmShape {
  int size_ratio = 10;        // T, at least 2
  uint64_t level1_bytes = 0;  // capacity of level 1, above 0
  int slots = 30;             // at least size_ratio + 2; the more, the less often runs have to be moved down
  FlsmGranularity granularity = FlsmGranularity::kLevels;
  uint64_t file_bytes = 0;         // of one table, with files
  int deepest_policy = 0;          // K of the deepest level in use, whatever its own; 0 for its own
  uint64_t max_level0_files = 10;  // files that may wait in level 0 whatever the policy of level 1
  uint64_t level0_files = 0;       // that no task has taken yet
  uint64_t level0_bytes = 0;       // likewise
  bool level0_busy = false;        // RocksDB compacts its level 0 once at a time
  std::vector<FlsmLevel> levels;   // [0] is level 1

  FlsmLevel& level(int number) { return levels[static_cast<std::size_t>(number) - 1]; }
  const FlsmLevel& level(int number) const { return levels[static_cast<std::size_t>(number) - 1]; }
  int deepest() const { return static_cast<int>(levels.size()); }

  // The deepest level that has a run, at least 1.
  int LevelsInUse() const;

  // K of a level.
  int Policy(int number) const;

  // Bytes that a level holds when it is full: T times those of the level above.
  uint64_t Capacity(int number) const;
  // Bytes that come into a level at once on average.
  uint64_t Incoming(int number) const;
  // The block's physical levels, first and last.
  int FirstSlot(int number) const { return 1 + (number - 1) * slots; }
  int LastSlot(int number) const { return number * slots; }
  int PhysicalLevels() const { return 1 + deepest() * slots; }
};

// Says in one line what of a shape's rules is broken; empty if nothing is: runs lie in their block, newer
// above older, policies are from 1 to T.
std::string Broken(const FlsmShape& shape);

// For people and tests: `3x2 | K=2 40 50! | K=1 300<`: level 0 with 3 files of 2 bytes together, then each
// level with its runs from the newest; `!` is sealed, `<` leaving, `>` arriving.
std::string ToText(const FlsmShape& shape);

}  // namespace rocktune
