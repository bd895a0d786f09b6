#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace rocktune {

// CompactFiles for databases whose disk may fail.
//
// Where a compaction of RocksDB's own cannot write the MANIFEST, RocksDB deletes no files until it can, since
// what reached the MANIFEST may name them. Before it had quarantines (QuarantinesFiles) it did not see to
// that after CompactFiles, and where it was built with assertions one of them ends the process when it goes
// on. The guard sees to it: from an I/O error within its CompactFiles until a flush, begun afterwards, has
// been recorded in the MANIFEST.
//
// Add it to the listeners of every database it compacts. One may serve several. Thread-safe. Throws nothing.
class ManifestGuard : public rocksdb::EventListener {
 public:
  const char* Name() const override { return "rocktune.ManifestGuard"; }

  // As DB::CompactFiles, into `output_level`. `done` may be null.
  rocksdb::Status CompactFiles(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                               const rocksdb::CompactionOptions& options,
                               const std::vector<std::string>& names, int output_level,
                               rocksdb::CompactionJobInfo* done);

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;
  void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;

 private:
  std::mutex mutex_;  // guards what follows; never held while RocksDB is called
  // Databases that delete no files, with the first flush that began since; 0 if none has.
  std::map<const rocksdb::DB*, int> kept_;
};

}  // namespace rocktune
