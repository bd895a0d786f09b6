#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <vector>

#include "rocktune/flsm/flsm_filters.h"
#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/flsm_shape.h"

namespace rocktune {

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
