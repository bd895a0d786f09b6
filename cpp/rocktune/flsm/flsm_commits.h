#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/util/manifest_guard.h"

namespace rocktune {

// A CompactFiles that is safe while tables are ingested.
//
// RocksDB 8.7 and newer has a race. Threads that record changes in the MANIFEST at the same time form a
// group: the first one, the leader, writes for all and releases the input files of their compactions. A
// follower makes its result visible to readers only when it wakes. An ingestion that runs in between sees
// neither a running compaction nor its outputs, and may put a table below older entries of the same keys,
// which lookups then find. A stock database has the race, too (docs/design/rocksdb-faults.md).
//
// So a compaction that ends while tables are ingested must be alone in its group. It waits until no flush
// runs and no other compaction is being recorded, and none begins until its result is visible. It does not
// wait for the end of the ingestion, which may wait for a write that is stopped until a compaction ends.
//
// Add the object to DBOptions::listeners, once for one database. Other threads must not call
// DeleteFilesInRange(s) while tables are ingested, since the object does not see it. Thread-safe. Throws no
// exception.
class FlsmCommits : public rocksdb::EventListener {
 public:
  // `guard` is among the database's listeners, too.
  explicit FlsmCommits(std::shared_ptr<ManifestGuard> guard) : guard_(std::move(guard)) {}
  const char* Name() const override { return "rocktune.FlsmCommits"; }

  // Compacts the files `names` into `output_level` by ManifestGuard::CompactFiles, and returns its status.
  // REQUIRES: RocksDB runs the compaction on the calling thread alone, as it does with compaction style None.
  rocksdb::Status CompactFiles(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                               const rocksdb::CompactionOptions& options,
                               const std::vector<std::string>& names, int output_level);

  // While an object lives, its thread may ingest tables. The constructor waits for the object of another
  // thread, and for compactions that are being recorded.
  class Ingestion {
   public:
    explicit Ingestion(FlsmCommits* commits);
    ~Ingestion();
    Ingestion(const Ingestion&) = delete;
    Ingestion& operator=(const Ingestion&) = delete;

   private:
    FlsmCommits* const commits_;
  };

  // RocksDB's events, which RocksDB calls on the threads of flushes and of CompactFiles.
  void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;
  void OnSubcompactionBegin(const rocksdb::SubcompactionJobInfo& info) override;
  void OnSubcompactionCompleted(const rocksdb::SubcompactionJobInfo& info) override;

 private:
  enum class Phase { kNoIngestion, kIngestionWaits, kIngestion };
  // A compaction of the calling thread that is being recorded, or about to be.
  class Commit;

  // Begins to record a compaction. Returns true if it is alone in its group, false if no ingestion runs.
  bool Begin(rocksdb::DB* db);
  void End(bool is_alone);

  const std::shared_ptr<ManifestGuard> guard_;
  std::mutex mutex_;  // guards the members below; never held while RocksDB is called
  std::condition_variable changed_;
  Phase phase_ = Phase::kNoIngestion;
  int commits_ = 0;        // compactions that are being recorded
  bool is_alone_ = false;  // true if one of them must be alone
};

}  // namespace rocktune
