#include "rocktune/governed_db.h"

#include <rocksdb/env.h>
#include <rocksdb/version.h>

#include <mutex>
#include <string>
#include <utility>

namespace rocktune {
namespace {

class GovernedDbImpl : public GovernedDb {
  using Base = GovernedDb;
  using Family = rocksdb::ColumnFamilyHandle;
  using Families = std::vector<Family*>;

 public:
  // REQUIRES: the caller attaches families before other calls, or calls Release.
  GovernedDbImpl(std::shared_ptr<CompactionGovernor> governor, rocksdb::DB* db,
                 std::chrono::milliseconds close_wait)
      : Base(db), governor_(std::move(governor)), close_wait_(close_wait) {}
  ~GovernedDbImpl() override {
    if (db_ != nullptr) {
      governor_->Detach(this, std::chrono::milliseconds(0)).PermitUncheckedError();
    }
  }

  // Gives up the database, which the caller owns again.
  void Release() { db_ = nullptr; }

  rocksdb::Status AttachFailure() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return attach_failure_;
  }

  rocksdb::Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                                     Family** family) override {
    rocksdb::Status status = Base::CreateColumnFamily(options, name, family);
    AttachCreated({*family});
    return status;
  }
  rocksdb::Status CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                                       const std::vector<std::string>& names, Families* families) override {
    rocksdb::Status status = Base::CreateColumnFamilies(options, names, families);
    AttachCreated(*families);
    return status;
  }
  rocksdb::Status CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>& descriptors,
                                       Families* families) override {
    rocksdb::Status status = Base::CreateColumnFamilies(descriptors, families);
    AttachCreated(*families);
    return status;
  }
  rocksdb::Status CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions& options,
                                               const std::string& name,
                                               const rocksdb::ImportColumnFamilyOptions& import,
                                               const rocksdb::ExportImportFilesMetaData& metadata,
                                               Family** family) override {
    rocksdb::Status status = Base::CreateColumnFamilyWithImport(options, name, import, metadata, family);
    AttachCreated({*family});
    return status;
  }
#if ROCKSDB_MAJOR >= 9
  rocksdb::Status CreateColumnFamilyWithImport(
      const rocksdb::ColumnFamilyOptions& options, const std::string& name,
      const rocksdb::ImportColumnFamilyOptions& import,
      const std::vector<const rocksdb::ExportImportFilesMetaData*>& metadatas, Family** family) override {
    rocksdb::Status status = Base::CreateColumnFamilyWithImport(options, name, import, metadatas, family);
    AttachCreated({*family});
    return status;
  }
#endif

  rocksdb::Status DropColumnFamily(Family* family) override { return DropColumnFamilies({family}); }
  rocksdb::Status DropColumnFamilies(const Families& families) override {
    rocksdb::Status status = DetachAll(families);
    return status.ok() ? Base::DropColumnFamilies(families) : status;
  }
  rocksdb::Status DestroyColumnFamilyHandle(Family* family) override {
    rocksdb::Status status = family == nullptr ? rocksdb::Status::OK() : DetachAll({family});
    return status.ok() ? Base::DestroyColumnFamilyHandle(family) : status;
  }
  rocksdb::Status Close() override {
    // Incomplete means that compactions have not caught up, which keeps nobody from closing.
    rocksdb::Status status = governor_->Detach(this, close_wait_);
    return status.ok() || status.IsIncomplete() ? Base::Close() : status;
  }

 private:
  // Attaches the families that a call created. If it failed halfway, RocksDB returns the handles of those
  // that it has created; the others are null or missing.
  void AttachCreated(const Families& families) {
    for (Family* family : families) {
      if (family == nullptr) {
        continue;
      }
      rocksdb::Status status = governor_->Attach(this, {family});
      if (!status.ok() && !status.IsNotSupported()) {
        rocksdb::Warn(GetDBOptions().info_log, "rocktune governor: column family '%s' is not governed: %s",
                      family->GetName().c_str(), status.ToString().c_str());
        const std::lock_guard<std::mutex> lock(mutex_);
        attach_failure_ = attach_failure_.ok() ? status : attach_failure_;
      }
    }
  }
  rocksdb::Status DetachAll(const Families& families) {
    rocksdb::Status first;
    for (Family* family : families) {
      rocksdb::Status status = governor_->DetachFamily(this, family);
      first = first.ok() ? status : first;
    }
    return first;
  }

  const std::shared_ptr<CompactionGovernor> governor_;
  const std::chrono::milliseconds close_wait_;
  mutable std::mutex mutex_;  // guards attach_failure_
  rocksdb::Status attach_failure_;
};

}  // namespace

rocksdb::Status GovernedDb::Attach(const std::shared_ptr<CompactionGovernor>& governor, rocksdb::DB* db,
                                   const std::vector<rocksdb::ColumnFamilyHandle*>& families,
                                   std::chrono::milliseconds close_wait,
                                   std::unique_ptr<GovernedDb>* governed) {
  auto wrapped = std::make_unique<GovernedDbImpl>(governor, db, close_wait);
  rocksdb::Status status = governor->Attach(wrapped.get(), families);
  if (!status.ok()) {
    wrapped->Release();
    return status;
  }
  *governed = std::move(wrapped);
  return status;
}

}  // namespace rocktune
