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

// The file that holds the part of a store's shape that RocksDB's metadata lacks: layout, policies and seals.
//
// It is `FLSM` in the store's directory, replaced as a whole and synced. RocksDB's Checkpoint and
// BackupEngine copy only names that RocksDB knows. So a copy holds the same text under such a name
// (ReadForCopy) until it is opened as an FLSM store (Adopt). Without CURRENT there is no database, and either
// file is stale: DestroyDB leaves `FLSM` behind.
//
// Does not own the Env. Thread-safe; Adopt, Write and ReadForCopy hold a lock during I/O. Throws no
// exception.
class FlsmShapeFile {
 public:
  // `directory` is the store's; it need not exist yet. No I/O.
  FlsmShapeFile(rocksdb::Env* env, const std::string& directory);

  // True if the directory holds a RocksDB database, of an FLSM store or not.
  bool HasDatabase() const;
  // Reads the shape. Its runs are the sealed ones alone, with size 0. Returns NotFound if the directory holds
  // no FLSM store, Corruption with the path if the file cannot be parsed or holds an impossible layout, and
  // otherwise the Env's status. Writes nothing.
  rocksdb::Status Read(FlsmShape* shape) const;
  // Makes the shape of a fresh copy the directory's own; does nothing in other directories. REQUIRES: called
  // before the database is opened, since RocksDB then deletes the copied file.
  rocksdb::Status Adopt();
  // Replaces the file durably. Does nothing if a change with a larger number has been written already.
  rocksdb::Status Write(const FlsmShape& shape, uint64_t number);
  // Describes the file that holds the latest written shape in a checkpoint or backup. REQUIRES: called before
  // RocksDB lists its tables. A shape may be older than its tables, as after a crash, but not newer.
  rocksdb::Status ReadForCopy(rocksdb::LiveFileStorageInfo* file) const;

 private:
  bool Exists(const std::string& name) const;
  std::string PathOf(const std::string& name) const { return directory_ + "/" + name; }

  rocksdb::Env* const env_;
  const std::string directory_;
  mutable std::mutex mutex_;
  uint64_t written_number_ = 0;  // number of the latest written change
};

}  // namespace rocktune
