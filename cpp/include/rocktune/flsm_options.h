#pragma once

#include <cstdint>
#include <vector>

namespace rocktune {

// Levels that an FlsmStore may have.
inline constexpr int kMaxFlsmLevels = 12;

// What a full level pushes into the next one.
enum class FlsmGranularity {
  kLevels,  // all of its runs at once
  kFiles,   // a few files and those they overlap, as often as the level is too full (RusKey, section 7)
};

// How a level changes its policy (RusKey, sections 4.1 and 4.2).
enum class FlsmTransition {
  kGreedy,    // pushes the level down at once and starts it afresh
  kLazy,      // takes effect when the level is pushed down because it is full
  kFlexible,  // keeps sealed runs; the newest run gets the new capacity
};

// The Bloom filters of an FLSM-tree, and how levels share their memory (RusKey, section 5.2).
struct FlsmFilters {
  enum class Scheme {
    kUniform,  // each level has the same bits per key
    kMonkey,   // a level's false-positive rate is T times that of the level above (Dayan et al., SIGMOD'17)
  };
  double bits_per_key = 8;  // average over all keys of full levels; 0 keeps the table options' own filters
  Scheme scheme = Scheme::kUniform;
};

// The layout of an FLSM-tree. A sorted run is a set of tables whose keys do not overlap. Level i holds at
// most K_i runs, its policy: 1 is leveling, T is tiering.
struct FlsmOptions {
  // T, the capacity of a level over that of the level above, from 2 to 50. Fixed at creation, and with it the
  // maximum policy. 0 means 10 for a new store, and an existing one's own; it refuses any other.
  int size_ratio = 0;
  uint64_t level1_bytes = 0;  // capacity of level 1; 0 means T write buffers
  // Maximum number of levels, up to kMaxFlsmLevels. 0 means 6 for a new store, and the store's own for an
  // existing one, which refuses fewer.
  int levels = 0;
  // K of each level from level 1, each from 1 to T; the last one holds for all deeper levels. Used for a new
  // store; an existing one keeps its policies.
  std::vector<int> policies = {1};
  // K of the deepest level in use, which then overrides `policies` there (Dostoevsky's Z); 0 means none.
  int deepest_policy = 0;
  // Maximum number of files in RocksDB's level 0 that serve as runs of level 1, and never more than half of
  // level0_slowdown_writes_trigger. 0 merges each flush into level 1 at once, as in the paper.
  int level0_runs = 10;
  int workers = 3;  // compactions that run at the same time, at least 1
  // Average rate of reads and writes by which an idle store joins runs that exceed its policies. 0 leaves
  // them until writes arrive. Compactions that are due do not wait for these.
  uint64_t reshape_bytes_per_s = 0;
  // Size above which a push of a whole level is done in pieces, one after the other: the bytes that a piece
  // reads, or more where one table overlaps more. What is done stays done after a restart. Each piece reads
  // some tables of the one before once more. 0 means 100 times as much as these, so that pieces cost about
  // 1%: 100 tables of target_file_size_base with one run per level, 2,300 where ten runs become one.
  // UINT64_MAX pushes a level in one piece. Level 0 and moves of runs are never cut.
  uint64_t max_merge_bytes = 0;
  // One operation of this many is measured closely for the statistics; 0 records none.
  uint64_t sample_every = 64;
  FlsmFilters filters;  // of tables written from now on
  FlsmGranularity granularity = FlsmGranularity::kLevels;
};

}  // namespace rocktune
