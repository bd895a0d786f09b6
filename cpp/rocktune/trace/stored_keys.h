#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/trace/trace_source.h"

namespace rocktune {

// The keys of a user's database with the sizes of their values. The database is opened for reading only:
// nothing in its directory changes, and it gets no LOG file. Keys are sorted bytewise. Memory is bounded
// (about 100 MB), apart from the write-ahead log, which RocksDB reads into memory. Not thread-safe.
// Failure: functions throw std::invalid_argument, with one line that names the directory, if the database
// cannot be opened or read, which a comparator other than the bytewise one prevents, too.
// REQUIRES: no process writes to the database.
class StoredKeys {
 public:
  explicit StoredKeys(const std::string& directory);
  ~StoredKeys();
  StoredKeys(const StoredKeys&) = delete;
  StoredKeys& operator=(const StoredKeys&) = delete;

  // Returns true if the database has a column family with this number.
  bool Has(uint32_t family_id) const { return handles_.contains(family_id); }
  // Returns RocksDB's estimate of the keys of a family. REQUIRES: Has(family_id).
  uint64_t EstimatedKeys(uint32_t family_id) const;
  // Returns the numbers of all column families.
  std::vector<uint32_t> Families() const;

  // Goes to the first key of a family. REQUIRES: Has(family_id).
  void Begin(uint32_t family_id);
  // Returns false behind the last key. REQUIRES: Begin has been called.
  bool Valid() const;
  void Next();
  // REQUIRES: Valid(). The key stays until Next or Begin is called.
  rocksdb::Slice key() const { return keys_->key(); }
  // Returns the size of the value: of a wide-column entity the sum of its names and values, of merged
  // operands the maximum of their sizes. REQUIRES: Valid().
  uint64_t ValueBytes();

  // Returns notes on what was read and cannot be carried into a replay as it is.
  TraceNotes Notes() const;

 private:
  const std::string directory_;
  std::shared_ptr<std::atomic<uint64_t>> merged_values_;
  std::unique_ptr<rocksdb::DB> database_;
  std::map<uint32_t, rocksdb::ColumnFamilyHandle*> handles_;
  std::unique_ptr<rocksdb::Iterator> keys_;
  uint64_t entities_ = 0;
  uint64_t blob_files_ = 0;
};

}  // namespace rocktune
