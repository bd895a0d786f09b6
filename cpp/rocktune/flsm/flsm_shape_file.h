#pragma once

#include <rocksdb/env.h>
#include <rocksdb/metadata.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "rocktune/flsm_shape.h"

namespace rocktune {

// Keeps the part of a store's shape that its runs do not tell: layout, policies, which runs are sealed.
//
// It is the file `FLSM` of the store's directory, replaced as a whole and synced. RocksDB's Checkpoint and
// BackupEngine know only RocksDB's own file names, so a copy carries the same text under such a name
// (`ReadForCopy`) until it is opened as an FLSM store (`Adopt`). Without CURRENT there is no database, and
// either file is stale: DestroyDB leaves `FLSM` behind.
//
// Thread-safe. Throws nothing.
class FlsmShapeFile {
 public:
  FlsmShapeFile(rocksdb::Env* env, const std::string& directory);

  // True if the directory holds a RocksDB database, of an FLSM store or not.
  bool HasDatabase() const;
  // NotFound, or Corruption with what is wrong. Changes nothing. Of the runs only the sealed ones are there,
  // without sizes.
  rocksdb::Status Read(FlsmShape* shape) const;
  // Makes the shape that a copy carries its own. Does nothing in a directory that is no fresh copy.
  // RocksDB deletes the carried file when it opens the database, so this comes first.
  rocksdb::Status Adopt();
  // Does nothing when a change with a larger number has been written.
  rocksdb::Status Write(const FlsmShape& shape, uint64_t number);
  // Describes the file with which a checkpoint or backup takes the shape along, as it was written last. To be
  // called before the tables are listed: a shape may be older than its tables, as after a crash, not newer.
  rocksdb::Status ReadForCopy(rocksdb::LiveFileStorageInfo* file) const;

 private:
  bool Exists(const std::string& name) const;
  std::string PathOf(const std::string& name) const { return directory_ + "/" + name; }

  rocksdb::Env* const env_;
  const std::string directory_;
  mutable std::mutex mutex_;
  uint64_t written_ = 0;
};

}  // namespace rocktune
