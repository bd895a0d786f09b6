#pragma once

#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <string>
#include <vector>

#include "rocktune/migrate/migration_request.h"

namespace rocktune {

// One column family of a database that is migrated.
struct MigratedFamily {
  std::string name;
  rocksdb::ColumnFamilyOptions present;  // enough to read it
  std::string
      unknown_merge_operator;  // the merge operator that only the application has; "" if there is not one
  rocksdb::ColumnFamilyOptions wanted;

  // True if the new comparator has the reverse order of the present one.
  bool reversed() const { return present.comparator != wanted.comparator; }
  // True if the new levels or the new compaction style need another shape of the tree.
  bool reshaped() const {
    return present.compaction_style != wanted.compaction_style || wanted.num_levels < present.num_levels;
  }
};

// Returns the families, in the order of `names`. Throws RunError (invalid), naming the family, if `wanted`
// lacks one of them or names another one; for a comparator that is neither bytewise nor reverse bytewise, for
// FIFO compaction before or after, and for options that RocksDB refuses.
std::vector<MigratedFamily> FamiliesOf(const MigrationRequest& request,
                                       const std::vector<std::string>& names);

// Returns the refusal of a family with operands of its unknown merge operator.
RunError UnmergedOperands(const MigratedFamily& family);

// Returns options for reading a database whose WAL is where `maps.db` says: no LOG file, no memory-mapped
// files, few open files.
rocksdb::DBOptions ReadingOptions(const OptionMaps& maps, rocksdb::Env* env);

// Returns the request's new options of the database, for writing through `env`: without what belongs to a
// serving database, and with statistics.
rocksdb::DBOptions WorkingOptions(const MigrationRequest& request, rocksdb::Env* env);
// Returns options for writing a family: no automatic compactions, and nothing that drops entries.
rocksdb::ColumnFamilyOptions WorkingOptions(const rocksdb::ColumnFamilyOptions& wanted);

// Opens the database once with its new options, so that its OPTIONS file has them, and closes it. Compaction
// filters are left out, because they would change data. Throws RunError.
void OpenWithNewOptions(const MigrationRequest& request, const std::string& directory,
                        const std::vector<MigratedFamily>& families);

}  // namespace rocktune
