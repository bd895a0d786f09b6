#include "rocktune/migrate/open_store.h"

#include "rocktune/runner/run_error.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {

OpenStore::~OpenStore() { Release().PermitUncheckedError(); }

void OpenStore::Open(const rocksdb::DBOptions& options, const std::string& directory,
                     const std::vector<rocksdb::ColumnFamilyDescriptor>& families) {
  directory_ = directory;
  const rocksdb::Status status = OpenColumnFamilies(options, directory, families, &families_, &db_);
  if (!status.ok()) {
    throw StoreError(directory + " cannot be opened", status);
  }
}

void OpenStore::OpenReadOnly(const rocksdb::DBOptions& options, const std::string& directory,
                             const std::vector<rocksdb::ColumnFamilyDescriptor>& families) {
  directory_ = directory;
  const rocksdb::Status status = OpenColumnFamiliesReadOnly(options, directory, families, &families_, &db_);
  if (!status.ok()) {
    throw StoreError(directory + " cannot be read", status);
  }
}

void OpenStore::Close() {
  const rocksdb::Status status = Release();
  if (!status.ok()) {
    throw StoreError(directory_ + " cannot be closed", status);
  }
}

rocksdb::Status OpenStore::Release() {
  rocksdb::Status status;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    const rocksdb::Status destroyed = db_->DestroyColumnFamilyHandle(family);
    status = status.ok() ? destroyed : status;
  }
  families_.clear();
  if (db_ != nullptr) {
    const rocksdb::Status closed = db_->Close();
    status = status.ok() ? closed : status;
  }
  db_.reset();
  return status;
}

}  // namespace rocktune
