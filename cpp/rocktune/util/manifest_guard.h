#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace rocktune {

// A CompactFiles that loses no files when the MANIFEST cannot be written.
//
// A failed write may have reached the MANIFEST, which then names the new files. RocksDB therefore deletes no
// files after such a failure of one of its own compactions, until a later write of the MANIFEST succeeds.
// Versions without quarantined files (see QuarantinesFiles) do not do this after CompactFiles; a build with
// assertions then ends the process when it resumes. The guard disables file deletions instead: from an I/O
// error in its CompactFiles until a flush that began after the error is recorded in the MANIFEST. It does
// nothing in newer versions.
//
// Add the guard to DBOptions::listeners of every database that it compacts, before the database is opened.
// One guard may serve several databases. Thread-safe. Throws no exception.
class ManifestGuard : public rocksdb::EventListener {
 public:
  const char* Name() const override { return "rocktune.ManifestGuard"; }

  // Calls DB::CompactFiles for the files `names` of `family`, writing to `output_level`, and returns its
  // status. Fills `*job_info` unless it is null. Blocks until the compaction ends.
  rocksdb::Status CompactFiles(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                               const rocksdb::CompactionOptions& options,
                               const std::vector<std::string>& names, int output_level,
                               rocksdb::CompactionJobInfo* job_info);

  // RocksDB's events, which RocksDB calls on its own threads.
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;
  void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;

 private:
  std::mutex mutex_;  // guards the map below; never held while RocksDB is called
  // Databases whose file deletions the guard has disabled. The value is the job id of the first flush that
  // began afterwards, or 0 if no flush has begun.
  std::map<const rocksdb::DB*, int> deletions_disabled_;
};

}  // namespace rocktune
