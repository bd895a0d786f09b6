#pragma once

#include <rocksdb/env.h>
#include <rocksdb/status.h>

#include <string>

namespace rocktune {

// The file ROCKTUNE_MIGRATION, which marks a directory that a migration fills: rocktune writes only where it
// finds the file, or where the directory was empty. It is there from the first file of the migration to the
// last step. Does not own the Env. Not thread-safe. Throws no exception.
class MigrationMarker {
 public:
  // `text` names the migration: its kind, source and settings. No I/O.
  MigrationMarker(rocksdb::Env* env, std::string directory, std::string text);

  // Creates the directory and the marker, or finds the marker of an earlier call with the same text; then
  // `*continues` is true. Returns InvalidArgument for a directory that is not empty and has no marker, or the
  // marker of another migration, and the Env's errors.
  rocksdb::Status Begin(bool* continues);
  // Deletes the marker. Returns the Env's error.
  rocksdb::Status Finish();

 private:
  rocksdb::Env* const env_;
  const std::string directory_;
  const std::string text_;
};

}  // namespace rocktune
