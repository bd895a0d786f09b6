#pragma once

#include <rocksdb/env.h>

#include <cstdint>
#include <string>
#include <vector>

#include "rocktune/migrate/migration_options.h"
#include "rocktune/migrate/open_store.h"

namespace rocktune {

// Sizes of a column family's data.
struct FamilySize {
  uint64_t stored_bytes = 0;  // tables and blob files
  uint64_t raw_bytes = 0;     // keys and values before compression, replaced entries included
};

// Returns the database's identity and last sequence number. A database with the same state has the same
// entries, unless a compaction filter of its application has dropped some. Throws RunError.
std::string StateOf(const OpenStore& store, const std::string& directory);

// A closed database that is read: its LOCK is held, so that it stays as it is, and no file of it changes.
// What readers see is therefore one snapshot. Does not own the Env. Not thread-safe.
class SourceStore {
 public:
  // Locks and opens the database. Throws RunError (invalid) if it is open elsewhere, is an FLSM store, has
  // families that FamiliesOf refuses, merge operands of an operator that only its application has, or
  // prepared transactions in its WAL; and RunError (crashed) if RocksDB cannot read it.
  SourceStore(const MigrationRequest& request, rocksdb::Env* env);
  ~SourceStore();
  SourceStore(const SourceStore&) = delete;
  SourceStore& operator=(const SourceStore&) = delete;

  const std::vector<MigratedFamily>& families() const { return families_; }
  const std::vector<FamilySize>& sizes() const { return sizes_; }
  // Returns the sum of the families' raw bytes.
  uint64_t RawBytes() const;
  // Returns StateOf the database.
  std::string State() const { return StateOf(store_, directory_); }
  const OpenStore& store() const { return store_; }

 private:
  void Lock();
  // Reads the sizes of a family. Throws RunError (invalid) if it has merge operands that nobody here can
  // merge.
  FamilySize SizeOf(std::size_t index) const;

  rocksdb::Env* const env_;
  const std::string directory_;
  rocksdb::FileLock* lock_ = nullptr;
  OpenStore store_;
  std::vector<MigratedFamily> families_;
  std::vector<FamilySize> sizes_;
};

// Throws RunError (out_of_disk) if the file system of `directory` has less than `bytes` free. A file system
// that cannot say is taken to have enough.
void CheckSpace(rocksdb::Env* env, const std::string& directory, uint64_t bytes);

}  // namespace rocktune
