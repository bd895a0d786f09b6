#pragma once

#include <rocksdb/db.h>
#include <rocksdb/iterator.h>

#include <cstdint>
#include <memory>
#include <string>

#include "rocktune/migrate/byte_progress.h"
#include "rocktune/migrate/migration_options.h"

namespace rocktune {

// The entries that a reader of a column family sees, in order: deleted and replaced ones are left out, and
// merge operands are merged. Reads past the block cache. Not thread-safe.
class EntryStream {
 public:
  // Begins at the first entry. `backwards` reads from the last entry to the first. The database and `family`
  // must outlive the stream, and nothing may be written to them meanwhile.
  EntryStream(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle, const MigratedFamily& family,
              bool backwards);

  bool Valid() const { return iterator_->Valid(); }
  void Next();
  // Goes to the first entry after `key` in the stream's direction.
  void SeekAfter(const rocksdb::Slice& key);
  // Goes to the stream's last entry.
  void SeekToLast();
  // Throws RunError, naming the column family, if reading has failed: invalid for operands of a merge
  // operator that only the application has, and crashed otherwise.
  void Check() const;

  // The entry; valid until the stream moves. REQUIRES: Valid().
  rocksdb::Slice key() const { return iterator_->key(); }
  rocksdb::Slice value() const { return iterator_->value(); }
  const rocksdb::WideColumns& columns() const { return iterator_->columns(); }
  // True if the entry has other columns than the default one.
  bool IsWide() const;
  // Returns the bytes of key, column names and values.
  uint64_t Bytes() const;

 private:
  const MigratedFamily& family_;
  const bool backwards_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

// The content of a column family. Two families with equal digests have equal entries in equal order.
struct FamilyDigest {
  std::string family;
  uint64_t entries = 0;
  uint64_t bytes = 0;     // of keys, column names and values
  uint64_t checksum = 0;  // depends on the order of the entries
  bool operator==(const FamilyDigest&) const = default;
};

// Reads a column family in one direction and returns its digest. Throws as EntryStream::Check does.
FamilyDigest DigestOf(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle, const MigratedFamily& family,
                      bool backwards, ByteProgress* progress);

}  // namespace rocktune
