#include "rocktune/util/manifest_guard.h"

#include <rocksdb/metadata.h>
#include <rocksdb/options.h>

#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// Whose CompactFiles the thread is in: errors do not tell their database.
constinit thread_local rocksdb::DB* compacted = nullptr;

}  // namespace

rocksdb::Status ManifestGuard::CompactFiles(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                                            const rocksdb::CompactionOptions& options,
                                            const std::vector<std::string>& names, int output_level,
                                            rocksdb::CompactionJobInfo* done) {
  compacted = db->GetRootDB();  // as events name it
  rocksdb::Status status = db->CompactFiles(options, family, names, output_level, -1, nullptr, done);
  compacted = nullptr;
  return status;
}

void ManifestGuard::OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) {
  if (QuarantinesFiles() || compacted == nullptr || reason != rocksdb::BackgroundErrorReason::kCompaction ||
      !error->IsIOError()) {
    return;
  }
  // First, so that a flush which ends it meanwhile has something to end.
  compacted->DisableFileDeletions().PermitUncheckedError();
  bool is_new = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_new = kept_.insert_or_assign(compacted, 0).second;
  }
  if (!is_new) {
    EndKeepingFiles(compacted).PermitUncheckedError();  // once is enough
  }
}

void ManifestGuard::OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto kept = kept_.find(db); kept != kept_.end() && kept->second == 0) {
    kept->second = info.job_id;
  }
}

void ManifestGuard::OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto kept = kept_.find(db);
    // The end of a flush that began before the error says nothing.
    if (kept == kept_.end() || kept->second == 0 || info.job_id < kept->second) {
      return;
    }
    kept_.erase(kept);
  }
  EndKeepingFiles(db).PermitUncheckedError();
}

}  // namespace rocktune
