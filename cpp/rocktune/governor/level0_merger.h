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

// Merges small tables of level 0 with each other, one merge at a time, on a thread of its own.
//
// RocksDB's own compactions take all of level 0 at once. After a peak that is one compaction of gigabytes,
// and until it ends every lookup goes through hundreds of tables. Thread-safe. Throws nothing.
class Level0Merger {
 public:
  // `guard` is among the listeners of each database.
  explicit Level0Merger(std::shared_ptr<ManifestGuard> guard);
  // Waits for the merge in work.
  ~Level0Merger();
  Level0Merger(const Level0Merger&) = delete;
  Level0Merger& operator=(const Level0Merger&) = delete;

  // Merges in this column family until there is nothing worth it or a merge fails. REQUIRES: Leave before the
  // database or the column family is closed.
  void Merge(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family);
  // Whether there is something worth merging, or being merged. False once after a merge has failed, so that
  // whoever makes way for merges does not do so for ever. Where a compaction of RocksDB's was in the way
  // (Aborted) it stays true: that one ends, and while RocksDB's own pause no other follows.
  bool IsWorthIt(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family);
  // Merges nothing more of this database. Waits for the merge in work.
  void Leave(const rocksdb::DB* db);

  uint64_t merges() const;         // that succeeded
  uint64_t merged_tables() const;  // by them

 private:
  struct Job {
    rocksdb::DB* db;
    rocksdb::ColumnFamilyHandle* family;

    bool operator==(const Job&) const = default;
  };

  void Work();

  const std::shared_ptr<ManifestGuard> guard_;
  mutable std::mutex mutex_;  // guards what follows; not held while merging
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  Job working_{nullptr, nullptr};  // written by the thread alone
  const rocksdb::DB* leaving_ = nullptr;
  std::vector<Job> failed_;  // of which nobody has been told
  bool ended_ = false;
  uint64_t merges_ = 0;
  uint64_t merged_tables_ = 0;
  std::thread thread_;
};

}  // namespace rocktune
