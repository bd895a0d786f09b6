#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <memory>
#include <string>
#include <vector>

#include "rocktune/flsm_shape.h"
#include "rocktune/flsm_store.h"

namespace rocktune {

// The column families of a migration, and the databases that hold them meanwhile.

// A column family on its way.
struct MovedFamily {
  std::string name;
  rocksdb::ColumnFamilyOptions options;
  FlsmShape shape;  // of the store that is made, or of the source
  int levels = 0;   // that the database needs meanwhile
};

// An open database with the handles of its families, which the destructor releases. Not copied.
struct OpenedFamilies {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;

  OpenedFamilies() = default;
  OpenedFamilies(const OpenedFamilies&) = delete;
  OpenedFamilies& operator=(const OpenedFamilies&) = delete;
  ~OpenedFamilies();
  // Releases the handles and closes the database. REQUIRES: it is open.
  rocksdb::Status Close();
};

// Opens the families such that RocksDB compacts only what CompactFiles and CompactRange ask for.
rocksdb::Status OpenToCompact(const rocksdb::DBOptions& options, const std::string& path,
                              const std::vector<MovedFamily>& families, OpenedFamilies* opened);

// Reads the metadata of each family. Leaves no LOG file. The database may be open elsewhere.
rocksdb::Status ReadMetadata(const rocksdb::DBOptions& options, const std::string& path,
                             const std::vector<MovedFamily>& families,
                             std::vector<rocksdb::ColumnFamilyMetaData>* metadata);

// Check options, or layouts, and the source of a migration, and store its families: those of an FLSM store
// with their shapes, those of a stock database with the shapes of empty trees. Return the errors of
// MigrateToStock and MigrateToFlsm. Read only.
rocksdb::Status PlanToStock(const rocksdb::DBOptions& options,
                            const std::vector<rocksdb::ColumnFamilyDescriptor>& given,
                            const std::string& source, std::vector<MovedFamily>* families);
rocksdb::Status PlanToFlsm(const rocksdb::DBOptions& options, const std::vector<FlsmFamily>& given,
                           const std::string& source, std::vector<MovedFamily>* families);

}  // namespace rocktune
