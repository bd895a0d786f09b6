#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <vector>

#include "rocktune/flsm/flsm_filters.h"
#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/flsm/flsm_shape.h"

namespace rocktune {

// How an FLSM-tree is laid out.
struct FlsmOptions {
  int size_ratio = 10;              // T; of an existing store it cannot be changed
  uint64_t level1_bytes = 0;        // capacity of level 1; 0 for T write buffers
  int levels = 6;                   // so many at most; of an existing store it can only be raised
  std::vector<int> policies = {1};  // K of each level from the first; the last one counts for all deeper ones
  // K of the deepest level in use, whatever `policies` says (Z in Dostoevsky's terms); 0 for no exception.
  int largest_policy = 0;
  // So many files may lie in RocksDB's level 0 as runs of level 1, but no more than half of those with which
  // RocksDB slows writes; 0 writes each flush into level 1 at once, as the paper has it.
  int level0_runs = 10;
  int workers = 3;  // compactions at once
  // While nothing is written, at most so much is read and written on average to join runs that a policy has
  // become too small for; 0 leaves them until writes come. Of what is due nothing ever waits for it.
  uint64_t reshape_bytes_per_s = 0;
  uint64_t sample_every = 64;  // one lookup of so many is looked at closely for statistics; 0: no statistics
  FlsmFilters filters;         // of tables that are written from now on
  FlsmGranularity granularity = FlsmGranularity::kLevels;  // of what is pushed from now on
};

// InvalidArgument, which says what is wrong, for a layout that makes no sense.
rocksdb::Status CheckLayout(const FlsmOptions& layout);

// The same for a change of a level's policy.
rocksdb::Status CheckChange(const FlsmShape& shape, int level, int policy, FlsmTransition transition);

// The empty tree of a layout. REQUIRES: it makes sense.
FlsmShape EmptyShape(const FlsmOptions& layout, uint64_t write_buffer_bytes, uint64_t file_bytes);

}  // namespace rocktune
