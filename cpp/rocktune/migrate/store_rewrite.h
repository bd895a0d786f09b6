#pragma once

#include <rocksdb/env.h>

#include <vector>

#include "rocktune/migrate/entry_stream.h"
#include "rocktune/migrate/migration_request.h"
#include "rocktune/util/progress.h"

namespace rocktune {

// Gives a closed database new options in its own directory: compacts the families `request.rewritten` with
// them, level by level where RocksDB needs another shape, and opens the database with them once, so that its
// OPTIONS file has them. Returns the content of all families, which is the same before and after.
//
// RocksDB's LOCK is held while it works. A kill at any moment leaves a database that RocksDB opens, with all
// entries; the next call compacts again what was not finished. I/O goes through `env`, but for the last
// opening. `progress` gets the phases "check", "rewrite" and "verify", in bytes before compression.
//
// Throws RunError: invalid for what SourceStore refuses, for another comparator, and if a program changed the
// database meanwhile; out_of_disk before the first compaction if the space will not suffice, and when it has
// not; crashed if RocksDB fails, or if the content has changed.
std::vector<FamilyDigest> RewriteStore(const MigrationRequest& request, rocksdb::Env* env,
                                       const Progress& progress);

}  // namespace rocktune
