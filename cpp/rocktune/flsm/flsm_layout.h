#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <vector>

#include "rocktune/flsm/flsm_filters.h"
#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/flsm_shape.h"

namespace rocktune {

// Returns the layout of a new store: size ratio and number of levels have their defaults in place of 0.
FlsmOptions LayoutOfNewStore(FlsmOptions layout);

// Returns the layout for an existing store: size ratio and number of levels are the store's in place of 0.
// The policies are {1}, which nothing uses, since the store has its own in its shape.
FlsmOptions LayoutOfStore(FlsmOptions layout, const FlsmShape& shape);

// Returns InvalidArgument with the reason if an existing store cannot have the layout: another size ratio, or
// fewer levels.
rocksdb::Status CheckLayoutOfStore(const FlsmOptions& layout, const FlsmShape& shape);

// Returns InvalidArgument with the field if a layout is out of range.
rocksdb::Status CheckLayout(const FlsmOptions& given);

// Returns InvalidArgument with the reason for a level or a policy out of range, and for kLazy with
// FlsmGranularity::kFiles.
rocksdb::Status CheckPolicyChange(const FlsmShape& shape, int level, int policy, FlsmTransition transition);

// Returns the shape of an empty tree. REQUIRES: CheckLayout accepts the layout.
FlsmShape EmptyShape(const FlsmOptions& given, uint64_t write_buffer_bytes, uint64_t file_bytes);

}  // namespace rocktune
