#pragma once

#include <rocksdb/listener.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "rocktune/flsm/flsm_tables.h"

namespace rocktune {

class FlsmCompactor;
class FlsmRecorder;

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

// Passes RocksDB's events to the families of a store: flushed tables, deleted ones and sealed memtables.
// Compacted tables go to the thread's CompactionOutputs. RocksDB calls it without holding its mutex.
// Thread-safe.
class FlsmListener : public rocksdb::EventListener {
 public:
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override;
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override;
  void OnMemTableSealed(const rocksdb::MemTableInfo& info) override;
  // Adds a receiver of the events of the column family `id`, not owned. REQUIRES: no other family with events
  // has this name.
  void Add(uint32_t id, const std::string& name, FlsmCompactor* compactor, FlsmRecorder* recorder);
  // Removes a receiver. After it returns, no call into the receiver runs.
  void Remove(uint32_t id);

 private:
  struct Receiver {
    std::string name;
    FlsmCompactor* compactor = nullptr;
    FlsmRecorder* recorder = nullptr;
  };

  std::mutex mutex_;
  std::map<uint32_t, Receiver> receivers_;      // by the family's id
  std::map<uint64_t, uint64_t> flushed_bytes_;  // by table number, for flushes that have not completed
};

}  // namespace rocktune
