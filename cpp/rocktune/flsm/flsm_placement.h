#pragma once

#include <rocksdb/metadata.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <vector>

#include "rocktune/flsm_shape.h"

namespace rocktune {

// A sorted run of a stock database and its place in an FLSM-tree, as physical levels.
struct RunPlace {
  int from = 0;  // 0 is level 0 as a whole
  int to = 0;
  uint64_t bytes = 0;

  bool operator==(const RunPlace&) const = default;
};

// Stores the place of each level that has tables, newest first. A run goes to the first level whose capacity
// it does not exceed, but never above a newer run. Level 0 stays unless it exceeds level 1; then its
// tables become one run. A level that lies deeper than that stays where it is, so that a second call, after
// some runs were placed, asks for the rest. `shape` is that of an empty tree. Returns NotSupported if a
// level's block has too few places. No I/O.
rocksdb::Status PlacesOf(const FlsmShape& shape, const rocksdb::ColumnFamilyMetaData& metadata,
                         std::vector<RunPlace>* places);

}  // namespace rocktune
