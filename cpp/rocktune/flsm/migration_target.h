#pragma once

#include <rocksdb/env.h>
#include <rocksdb/status.h>

#include <string>

#include "rocktune/util/migration_marker.h"

namespace rocktune {

// The directory that a migration fills, as a clone of its source that is then changed.
//
// The file ROCKTUNE_MIGRATION is there from the first file to Finish. CURRENT is copied last, so a target
// with it holds the whole clone. Does not own the Env. Not thread-safe. Throws no exception.
class MigrationTarget {
 public:
  // `kind` names the migration. No I/O.
  MigrationTarget(rocksdb::Env* env, const std::string& kind, std::string source, std::string target);

  // Clones the source, unless an earlier call has completed that: tables and blob files by hard links, or
  // copies where links are impossible, and copies of MANIFEST, OPTIONS, WAL and the like. Files of rocktune
  // and LOG files stay behind. Holds the source's LOCK meanwhile. Returns
  // - InvalidArgument for a missing source, and for a target that is not empty and is no unfinished migration
  //   of this kind and source;
  // - IOError if the source is open, and the Env's errors.
  rocksdb::Status Clone();
  // Declares the target complete. Returns the Env's error.
  rocksdb::Status Finish();

 private:
  // Creates the directory and the marker file, or checks those of an earlier call.
  rocksdb::Status Begin();
  // Deletes what an earlier call has cloned halfway.
  rocksdb::Status Clear();
  rocksdb::Status CloneFiles();

  rocksdb::Env* const env_;
  const std::string source_;
  const std::string target_;
  MigrationMarker marker_;
};

}  // namespace rocktune
