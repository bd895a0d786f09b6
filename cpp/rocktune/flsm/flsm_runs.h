#pragma once

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>

#include <vector>

#include "rocktune/flsm/flsm_tables.h"
#include "rocktune/flsm/flsm_task.h"
#include "rocktune/flsm_shape.h"

namespace rocktune {

// What RocksDB says of a store's runs. Each call holds the database's mutex while it lists all tables.

// The default column family's.
rocksdb::ColumnFamilyMetaData Metadata(rocksdb::DB* db);

// Those of a task's tables, of `all`, that a push by files takes, or a join. Nothing else may touch its runs
// meanwhile.
std::vector<FlsmTable> CheapestOf(const FlsmTask& task, const FlsmShape& shape,
                                  const std::vector<FlsmTable>& all, rocksdb::DB* db);

// Reads from a database what its runs hold, into a shape with size ratio, slots and number of levels set.
void ReadRuns(rocksdb::DB* db, FlsmShape* shape);

// Sets what the idle runs hold that a shape knows of, from tables that are up to date; one without any is
// gone. Runs that tasks use stay as they are.
void ReadIdleRuns(const FlsmTables& tables, FlsmShape* shape);

}  // namespace rocktune
