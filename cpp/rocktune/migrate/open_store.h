#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace rocktune {

// An open database with the handles of its column families. Closes both when it is destroyed.
// Not thread-safe. Functions throw RunError if RocksDB fails.
class OpenStore {
 public:
  OpenStore() = default;
  OpenStore(const OpenStore&) = delete;
  OpenStore& operator=(const OpenStore&) = delete;
  ~OpenStore();

  // Opens the database for writing, or only for reading. REQUIRES: it is not open.
  void Open(const rocksdb::DBOptions& options, const std::string& directory,
            const std::vector<rocksdb::ColumnFamilyDescriptor>& families);
  void OpenReadOnly(const rocksdb::DBOptions& options, const std::string& directory,
                    const std::vector<rocksdb::ColumnFamilyDescriptor>& families);
  // Closes the database. Its memtables are flushed if it was open for writing.
  void Close();

  rocksdb::DB* db() const { return db_.get(); }
  // Returns the handle of a family, in the order of the descriptors.
  rocksdb::ColumnFamilyHandle* family(std::size_t index) const { return families_[index]; }

 private:
  // Returns the first error of destroying the handles and closing the database.
  rocksdb::Status Release();

  std::string directory_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

}  // namespace rocktune
