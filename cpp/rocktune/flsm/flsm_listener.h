#pragma once

#include <rocksdb/listener.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "rocktune/flsm/flsm_tables.h"

namespace rocktune {

class FlsmCompactor;

// The tables that the thread makes in compactions of FLSM stores while this lives; one at a time.
class MadeTables {
 public:
  MadeTables();
  ~MadeTables();
  MadeTables(const MadeTables&) = delete;
  MadeTables& operator=(const MadeTables&) = delete;

  const std::vector<FlsmTable>& tables() const { return tables_; }

 private:
  friend class FlsmListener;
  std::vector<FlsmTable> tables_;
};

// Tells a store's compactor what is flushed and deleted, and `MadeTables` what is compacted, all of the
// default column family alone. Thread-safe.
class FlsmListener : public rocksdb::EventListener {
 public:
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override;
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override;
  // Whom to tell; null for nobody any more. When it returns, no other is being told.
  void Tell(FlsmCompactor* compactor);

 private:
  std::mutex mutex_;
  FlsmCompactor* compactor_ = nullptr;
  std::map<uint64_t, uint64_t> flushed_bytes_;  // by number, of flushes that have not ended
};

}  // namespace rocktune
