#pragma once

#include <rocksdb/env.h>

#include <string>
#include <vector>

#include "rocktune/migrate/entry_stream.h"
#include "rocktune/migrate/migration_options.h"
#include "rocktune/migrate/open_store.h"

namespace rocktune {

// Returns the content of all families of an open store. With `in_new_order`, a family whose comparator is
// going to be the reverse one is read backwards.
std::vector<FamilyDigest> DigestsOf(const OpenStore& store, const std::vector<MigratedFamily>& families,
                                    bool in_new_order, ByteProgress* progress);

// Reads the database in `directory`, which has its new options, from the disk and compares its content with
// that of before. Returns the content. Throws RunError (crashed) if they differ or RocksDB cannot read it.
std::vector<FamilyDigest> Verified(const MigrationRequest& request, const std::string& directory,
                                   const std::vector<MigratedFamily>& families,
                                   const std::vector<FamilyDigest>& before, rocksdb::Env* env,
                                   ByteProgress* progress);

}  // namespace rocktune
