#pragma once

#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <string>
#include <vector>

#include "rocktune/flsm_options.h"
#include "rocktune/flsm_store.h"

namespace rocktune {

// Makes FLSM stores of RocksDB databases, and stock databases of FLSM stores.
//
//     rocktune::MigrationCost cost;
//     rocktune::CostOfMigrationToFlsm(options, layout, "/data/db", &cost);   // what it will read and write
//     rocktune::MigrateToFlsm(options, layout, "/data/db", "/data/flsm");
//     rocktune::FlsmStore::Open(options, {}, "/data/flsm", &store);
//     ...
//     rocktune::MigrateToStock(options, "/data/flsm", "/data/db2");          // the way back
//
// The source is only read, and stays as it is: delete it when the result has proved itself. It must not be
// open; make a rocksdb::Checkpoint of a database that serves, and migrate that. It must have tables and WAL
// in one directory, and no prepared transaction. All of its column families migrate together: each function
// comes once for the default family alone, and once for all families, the default one among them.
//
// The target shares the source's tables by hard links on the same file system, and has copies elsewhere.
// A target that is not finished holds the file ROCKTUNE_MIGRATION. After a kill, the same call goes on where
// it was; a compaction that was running begins again.
//
// `options` are those of the program: comparator, merge operator, Env, table format, sizes. All functions
// block. No two calls may have the same target at a time. They throw no exception.

// The cost of a migration.
struct MigrationCost {
  uint64_t bytes = 0;            // tables of the source
  uint64_t rewritten_bytes = 0;  // part of them that is read and written again; the rest is linked or moved

  // Returns the seconds that the rewriting takes on a device of this bandwidth, reads and writes together.
  double Seconds(uint64_t device_bytes_per_s) const {
    return 2 * static_cast<double>(rewritten_bytes) / static_cast<double>(device_bytes_per_s);
  }
};

// Makes an FLSM store with `layout` at `target` from the leveled or universal database at `source`. Each
// level of the source becomes a run of the level that has room for it. RocksDB moves tables where it can
// (versions whose CompactionOptions have allow_trivial_move) and otherwise rewrites them. Returns
// - InvalidArgument for a layout out of range, for a source that is an FLSM store or no database, and for a
//   target that is not empty and is no unfinished migration of this source; and if the families are not
//   those of the source;
// - NotSupported for options with wal_dir, db_paths or cf_paths;
// - IOError if the source is open, and RocksDB's own errors.
rocksdb::Status MigrateToFlsm(const rocksdb::Options& options, const FlsmOptions& layout,
                              const std::string& source, const std::string& target);
rocksdb::Status MigrateToFlsm(const rocksdb::DBOptions& options, const std::vector<FlsmFamily>& families,
                              const std::string& source, const std::string& target);
// Stores the cost of MigrateToFlsm; data in the source's WAL is not counted. Changes nothing. The source may
// be open elsewhere. Fails as MigrateToFlsm does.
rocksdb::Status CostOfMigrationToFlsm(const rocksdb::Options& options, const FlsmOptions& layout,
                                      const std::string& source, MigrationCost* cost);
rocksdb::Status CostOfMigrationToFlsm(const rocksdb::DBOptions& options,
                                      const std::vector<FlsmFamily>& families, const std::string& source,
                                      MigrationCost* cost);

// Makes a stock database with `options` at `target` from the FLSM store at `source`: merges all runs into one
// and puts it into the deepest of options.num_levels levels. LoadStockOptions opens a store without any
// rewriting, with all its levels. Fails as MigrateToFlsm does, and with InvalidArgument for a source that is
// no FLSM store, FIFO compaction or fewer than 2 levels.
rocksdb::Status MigrateToStock(const rocksdb::Options& options, const std::string& source,
                               const std::string& target);
rocksdb::Status MigrateToStock(const rocksdb::DBOptions& options,
                               const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                               const std::string& source, const std::string& target);
// Stores the cost of MigrateToStock; see CostOfMigrationToFlsm.
rocksdb::Status CostOfMigrationToStock(const rocksdb::Options& options, const std::string& source,
                                       MigrationCost* cost);
rocksdb::Status CostOfMigrationToStock(const rocksdb::DBOptions& options,
                                       const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                                       const std::string& source, MigrationCost* cost);

}  // namespace rocktune
