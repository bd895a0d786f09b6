#pragma once

#include <rocksdb/listener.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "rocktune/flsm/flsm_tables.h"

namespace rocktune {

class FlsmCompactor;

// Collects the tables that the calling thread's compaction of an FLSM store writes. CompactFiles runs on the
// thread that calls it, since compaction style None has no subcompactions. One object per thread at a time.
// Not thread-safe.
class CompactionOutputs {
 public:
  // Begins to collect, on the calling thread, until the destructor.
  CompactionOutputs();
  ~CompactionOutputs();
  CompactionOutputs(const CompactionOutputs&) = delete;
  CompactionOutputs& operator=(const CompactionOutputs&) = delete;

  // Returns the tables written so far.
  const std::vector<FlsmTable>& tables() const { return tables_; }

 private:
  friend class FlsmListener;
  std::vector<FlsmTable> tables_;
};

// Passes RocksDB's events of the default column family on: flushed and deleted tables to a store's compactor,
// compacted tables to the thread's CompactionOutputs. RocksDB calls it without holding its mutex.
// Thread-safe.
class FlsmListener : public rocksdb::EventListener {
 public:
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override;
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override;
  // Sets the receiver of events, not owned; null means none. After it returns, no call into the previous
  // receiver runs.
  void SetCompactor(FlsmCompactor* compactor);

 private:
  std::mutex mutex_;
  FlsmCompactor* compactor_ = nullptr;
  std::map<uint64_t, uint64_t> flushed_bytes_;  // by table number, for flushes that have not completed
};

}  // namespace rocktune
