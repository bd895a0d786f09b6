#pragma once

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>

#include <vector>

#include "rocktune/flsm/flsm_tables.h"
#include "rocktune/flsm/flsm_task.h"
#include "rocktune/flsm_shape.h"

namespace rocktune {

// A store's runs as RocksDB reports them. Metadata, CheapestTables and ReadRuns hold the database's mutex
// while RocksDB lists all tables.

// Returns the metadata of a column family.
rocksdb::ColumnFamilyMetaData Metadata(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family);

// Returns the tables among `all` that a task by files uses: those of CheapestPush. `all` holds the tables of
// the task's inputs. REQUIRES: no other task uses these runs meanwhile.
std::vector<FlsmTable> CheapestTables(const FlsmTask& task, const FlsmShape& shape,
                                      const std::vector<FlsmTable>& all, rocksdb::DB* db,
                                      rocksdb::ColumnFamilyHandle* family);

// Returns the tables of the next piece, of at most `max_bytes`, of a task that is done in pieces: those of
// NextPiece. Returns no table once the task is complete. REQUIRES: no other task uses these runs meanwhile.
std::vector<FlsmTable> NextPieceTables(const FlsmTask& task, uint64_t max_bytes, rocksdb::DB* db,
                                       rocksdb::ColumnFamilyHandle* family);

// Replaces the runs and level 0 of a shape by those of a column family. Runs that stay keep their seals.
// REQUIRES: size ratio, slots and the number of levels are set.
void ReadRuns(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, FlsmShape* shape);

// Adds an idle run for each physical level that has tables and no run in the shape.
void AddUnknownRuns(const FlsmTables& tables, FlsmShape* shape);

// Sets the sizes of a shape's idle runs from `tables`, and removes those without tables. Runs that tasks use
// stay as they are.
void ReadIdleRuns(const FlsmTables& tables, FlsmShape* shape);

}  // namespace rocktune
