#pragma once

#include <rocksdb/env.h>
#include <rocksdb/metadata.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "rocktune/flsm_shape.h"

namespace rocktune {

// Shapes by column family.
using FlsmShapes = std::map<std::string, FlsmShape>;

// The file that holds the part of a store's shapes that RocksDB's metadata lacks: layout, policies and seals
// of each column family.
//
// It is `FLSM` in the store's directory, replaced as a whole and synced. RocksDB's Checkpoint and
// BackupEngine copy only names that RocksDB knows. So a copy holds the same text under such a name
// (ReadForCopy) until it is opened as an FLSM store (Adopt). Without CURRENT there is no database, and either
// file is stale: DestroyDB leaves `FLSM` behind. A family that RocksDB does not have is stale, too: a new
// family's shape is written before RocksDB creates it, and that of a dropped one is removed afterwards.
//
// Does not own the Env. Thread-safe; Adopt, Save, Write and ReadForCopy hold a lock during I/O. Throws no
// exception.
class FlsmShapeFile {
 public:
  // `directory` is the store's; it need not exist yet. No I/O.
  FlsmShapeFile(rocksdb::Env* env, const std::string& directory);

  // True if the directory holds a RocksDB database, of an FLSM store or not.
  bool HasDatabase() const;
  // Reads the shapes; the default family is among them. Their runs are the sealed ones alone, with size 0.
  // Returns NotFound if the directory holds no FLSM store, Corruption with the path if the file cannot be
  // parsed or holds an impossible layout, and otherwise the Env's status. Writes nothing.
  rocksdb::Status Read(FlsmShapes* shapes) const;
  // Makes the shapes of a fresh copy the directory's own; does nothing in other directories. REQUIRES: called
  // before the database is opened, since RocksDB then deletes the copied file.
  rocksdb::Status Adopt();

  // Adds a family, and returns a number for Write and Remove. No I/O. REQUIRES: its name is no other one's.
  int Add(const std::string& family, const FlsmShape& shape);
  // Removes a family. No I/O.
  void Remove(int family);
  // Replaces the file durably, if its content would change.
  rocksdb::Status Save();
  // Sets a family's shape, and saves it. Does nothing if a change with a larger number has been written
  // already, or if the family was removed.
  rocksdb::Status Write(int family, const FlsmShape& shape, uint64_t number);
  // Describes the file that holds the latest written shapes in a checkpoint or backup. REQUIRES: called
  // before RocksDB lists its tables, and no family is created until it has. A shape may be older than its
  // tables, as after a crash, but not newer.
  rocksdb::Status ReadForCopy(rocksdb::LiveFileStorageInfo* file) const;

 private:
  struct Family {
    std::string name;
    FlsmShape shape;
    uint64_t number = 0;  // of the latest change
  };

  bool Exists(const std::string& name) const;
  std::string PathOf(const std::string& name) const { return directory_ + "/" + name; }
  // Save, with mutex_ held.
  rocksdb::Status SaveLocked();

  rocksdb::Env* const env_;
  const std::string directory_;
  mutable std::mutex mutex_;
  std::map<int, Family> families_;
  int next_family_ = 0;
  std::string saved_;  // the file's content; empty before the first Save
};

}  // namespace rocktune
