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
  // T. 0: 10 for a new store, its own for an existing one, where any other is refused.
  int size_ratio = 0;
  uint64_t level1_bytes = 0;  // capacity of level 1; 0 for T write buffers
  // So many at most. 0: 6 for a new store, its own for an existing one, where fewer are refused.
  int levels = 0;
  std::vector<int> policies = {1};  // K of each level from the first; the last one counts for all deeper ones
  // K of the deepest level in use, whatever `policies` says (Z in Dostoevsky's terms); 0 for no exception.
  int deepest_policy = 0;
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

// The layout with a new store's default size ratio and number of levels in the place of 0.
FlsmOptions LayoutOfNewStore(FlsmOptions layout);

// The layout with an existing store's size ratio and number of levels in the place of 0, and without
// policies, which the store has.
FlsmOptions LayoutOfStore(FlsmOptions layout, const FlsmShape& shape);

// InvalidArgument, which says what is wrong, for a layout that is not that of an existing store.
rocksdb::Status CheckLayoutOfStore(const FlsmOptions& layout, const FlsmShape& shape);

// InvalidArgument, which says what is wrong, for a layout that makes no sense.
rocksdb::Status CheckLayout(const FlsmOptions& given);

// The same for a change of a level's policy.
rocksdb::Status CheckChange(const FlsmShape& shape, int level, int policy, FlsmTransition transition);

// The empty tree of a layout. REQUIRES: it makes sense.
FlsmShape EmptyShape(const FlsmOptions& given, uint64_t write_buffer_bytes, uint64_t file_bytes);

}  // namespace rocktune
