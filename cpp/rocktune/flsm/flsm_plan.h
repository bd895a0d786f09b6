#pragma once

#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <memory>
#include <string>

#include "rocktune/flsm/flsm_filters.h"
#include "rocktune/flsm_options.h"
#include "rocktune/flsm_shape.h"

namespace rocktune {

// A column family as a store opens it, or creates it.
struct FlsmPlan {
  std::string name;
  FlsmOptions layout;                         // without 0 for a default
  FlsmShape shape;                            // without runs, but for the sealed ones
  rocksdb::ColumnFamilyOptions options;       // the caller's, with those that the store's compactions need
  std::shared_ptr<FlsmFilterPolicy> filters;  // null if the table options keep their own
  int shape_number = 0;                       // its number in FlsmShapeFile
};

// Returns the options with those that the store's compactions need: RocksDB compacts nothing by itself, and
// there is a physical level for each run.
rocksdb::ColumnFamilyOptions TreeOptions(const rocksdb::ColumnFamilyOptions& given, const FlsmShape& shape);

// Sets the layout's filters in the table options; with 0 bits per key the table options keep their own.
// Returns InvalidArgument for tables that are not block-based.
rocksdb::Status SetFilters(const FlsmFilters& filters, const FlsmShape& shape,
                           rocksdb::ColumnFamilyOptions* options, std::shared_ptr<FlsmFilterPolicy>* policy);

// Returns NotSupported for options with which RocksDB's CompactFiles always fails.
rocksdb::Status CheckDatabaseOptions(const rocksdb::DBOptions& options);

// Returns the maximum number of files in level 0 for FlsmOptions' `level0_runs` and RocksDB's triggers in
// `options`.
uint64_t MaxLevel0Runs(int level0_runs, const rocksdb::ColumnFamilyOptions& options);

// Plan a column family: a new one, or an existing one with its `shape`, to which levels may be added. Return
// InvalidArgument for a layout out of range or one that the family cannot have, and NotSupported for options
// under which compactions fail.
rocksdb::Status PlanNewFamily(const std::string& name, const rocksdb::ColumnFamilyOptions& options,
                              const FlsmOptions& layout, FlsmPlan* plan);
rocksdb::Status PlanFamily(const std::string& name, const rocksdb::ColumnFamilyOptions& options,
                           const FlsmOptions& layout, const FlsmShape& shape, FlsmPlan* plan);

}  // namespace rocktune
