#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/util/manifest_guard.h"

namespace rocktune {

// Returns true if a flush of any family runs, or has ended and still uses its family's data.
bool HasRunningFlushes(rocksdb::DB* db);

// Compacts files safely while tables are ingested and families are dropped. A stock RocksDB has both faults
// that it avoids (docs/design/rocksdb-faults.md).
//
// Ingestion, RocksDB 8.7 and newer. Threads that record changes in the MANIFEST at the same time form a
// group: the first one, the leader, writes for all and releases the input files of their compactions. A
// follower makes its result visible to readers only when it wakes. An ingestion that runs in between sees
// neither a running compaction nor its outputs, and may put a table below older entries of the same keys,
// which lookups then find. So a compaction that ends while tables are ingested must be alone in its group. It
// waits until no flush runs and no other compaction is being recorded, and none begins until its result is
// visible. It does not wait for the end of the ingestion, which may wait for a write that is stopped until a
// compaction ends.
//
// Drops, RocksDB 10.9 and newer. If CompactFiles moves tables of a family that is dropped meanwhile, RocksDB
// refuses all further writes to the database. So tables of a family that is being dropped are not moved, but
// rewritten.
//
// Add the object to DBOptions::listeners, once for one database. It does not see other changes of the
// MANIFEST: while tables are ingested, other threads must not call DeleteFilesInRange(s) or
// IncreaseFullHistoryTsLow, nor write with DBOptions::track_and_verify_wals_in_manifest. Thread-safe. Throws
// no exception.
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

  // While an object lives, the family with the id may be dropped. The constructor waits until none of its
  // tables is being moved. Its compactions go on, because a drop may wait for a write that is stopped until
  // one ends.
  class Drop {
   public:
    Drop(FlsmCommits* commits, uint32_t family);
    ~Drop();
    Drop(const Drop&) = delete;
    Drop& operator=(const Drop&) = delete;

   private:
    FlsmCommits* const commits_;
    const uint32_t family_;
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
  // Notes that tables of a family may be moved, until EndMove. Returns false if it is being dropped.
  bool BeginMove(uint32_t family);
  void EndMove(uint32_t family);

  const std::shared_ptr<ManifestGuard> guard_;
  std::mutex mutex_;  // guards the members below; never held while RocksDB is called
  std::condition_variable changed_;
  Phase phase_ = Phase::kNoIngestion;
  int commits_ = 0;                // compactions that are being recorded
  bool is_alone_ = false;          // true if one of them must be alone
  std::map<uint32_t, int> moves_;  // compactions that may move tables, by the family's id
  std::set<uint32_t> dropped_;     // families that are being dropped
};

}  // namespace rocktune
