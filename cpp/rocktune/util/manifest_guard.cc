#include "rocktune/util/manifest_guard.h"

#include <rocksdb/metadata.h>
#include <rocksdb/options.h>

#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// The database whose CompactFiles this thread is in. OnBackgroundError does not say which database failed,
// but CompactFiles reports its errors on the thread that called it.
constinit thread_local rocksdb::DB* compacting_db = nullptr;

}  // namespace

rocksdb::Status ManifestGuard::CompactFiles(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                                            const rocksdb::CompactionOptions& options,
                                            const std::vector<std::string>& names, int output_level,
                                            rocksdb::CompactionJobInfo* job_info) {
  compacting_db = db->GetRootDB();  // flush events name the root, not a StackableDB on it
  rocksdb::Status status = db->CompactFiles(options, family, names, output_level, -1, nullptr, job_info);
  compacting_db = nullptr;
  return status;
}

void ManifestGuard::OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) {
  if (QuarantinesFiles() || compacting_db == nullptr ||
      reason != rocksdb::BackgroundErrorReason::kCompaction || !error->IsIOError()) {
    return;
  }
  // Before the map has the database: a flush that ends in between must find deletions disabled to enable
  // them.
  compacting_db->DisableFileDeletions().PermitUncheckedError();
  bool is_new = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_new = deletions_disabled_.insert_or_assign(compacting_db, 0).second;
  }
  if (!is_new) {
    // RocksDB counts DisableFileDeletions; the guard holds one per database.
    EnableFileDeletions(compacting_db).PermitUncheckedError();
  }
}

void ManifestGuard::OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto disabled = deletions_disabled_.find(db);
  if (disabled != deletions_disabled_.end() && disabled->second == 0) {
    disabled->second = info.job_id;
  }
}

void ManifestGuard::OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto disabled = deletions_disabled_.find(db);
    // A flush that began before the error may have written the MANIFEST before the error, too.
    if (disabled == deletions_disabled_.end() || disabled->second == 0 || info.job_id < disabled->second) {
      return;
    }
    deletions_disabled_.erase(disabled);
  }
  EnableFileDeletions(db).PermitUncheckedError();
}

}  // namespace rocktune
