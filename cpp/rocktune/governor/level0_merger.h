#pragma once

#include <rocksdb/db.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "rocktune/util/manifest_guard.h"

namespace rocktune {

// A thread that merges small level-0 tables with each other, one merge at a time over all databases.
//
// RocksDB's own compactions take all of level 0 at once. After a peak that is one compaction of gigabytes,
// and until it ends every lookup passes through hundreds of tables.
//
// Does not own databases and handles. Thread-safe. Throws no exception.
class Level0Merger {
 public:
  // REQUIRES: `guard` is among the listeners of each database.
  explicit Level0Merger(std::shared_ptr<ManifestGuard> guard);
  // Waits for the running merge. Drops scheduled ones.
  ~Level0Merger();
  Level0Merger(const Level0Merger&) = delete;
  Level0Merger& operator=(const Level0Merger&) = delete;

  // Schedules merges in a column family: one after another, until NextLevel0Merge returns no merge or one
  // fails. Does nothing if they are scheduled or running already. Does not wait. REQUIRES: Detach is called
  // before the database or the column family is closed.
  void ScheduleMerge(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family);
  // True if a merge runs in the column family or tables can be merged. Returns false once after a merge has
  // failed, so that RocksDB's compactions are not paused for ever for merges that fail. Aborted, which
  // CompactFiles returns if a compaction of RocksDB's own is in the way, is no failure: that compaction ends,
  // and no other begins while RocksDB's compactions are off.
  bool CanMerge(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family);
  // Drops a database's scheduled merges and waits until its running merge has ended. REQUIRES: one call at a
  // time.
  void Detach(const rocksdb::DB* db);

  // Returns the number of merges that succeeded.
  uint64_t merges() const;
  // Returns the number of tables that they merged.
  uint64_t merged_tables() const;

 private:
  struct Job {
    rocksdb::DB* db;
    rocksdb::ColumnFamilyHandle* family;

    bool operator==(const Job&) const = default;
  };

  // The body of the thread.
  void RunJobs();

  const std::shared_ptr<ManifestGuard> guard_;
  mutable std::mutex mutex_;  // guards the members below; not held during a merge
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  Job running_{nullptr, nullptr};           // written by the thread alone, which reads it without the lock
  const rocksdb::DB* detaching_ = nullptr;  // the database whose running merge must not be scheduled again
  std::vector<Job> failed_;                 // failures that CanMerge has not reported yet
  bool ended_ = false;
  uint64_t merges_ = 0;
  uint64_t merged_tables_ = 0;
  std::thread thread_;
};

}  // namespace rocktune
