#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rocktune/util/histogram.h"

namespace rocktune {

// What a store holds and does at a moment; all are states, none a difference.
struct StoreState {
  std::vector<uint64_t> level_bytes;
  std::vector<uint64_t> level_files;
  uint64_t db_bytes = 0;                         // data files on disk: tables, blobs and logs
  std::map<std::string, uint64_t> memory_bytes;  // memtables, block_cache, block_cache_pinned, table_readers
  std::map<std::string, uint64_t> tickers;       // cumulative, by RocksDB's names, those that are not 0
  struct HistogramFigures {
    uint64_t count = 0, sum = 0;
    double average = 0, p50 = 0, p95 = 0, p99 = 0, max = 0;
  };
  std::map<std::string, HistogramFigures> histograms;  // cumulative, by RocksDB's names, those not empty
  Histogram::Snapshot level0_compactions_ns;           // cumulative: how long compactions of level 0 took
};

// Whether a store lets writes through.
enum class WriteCondition { kNormal, kDelayed, kStopped };

// A key-value store that the runner drives. All operations are thread-safe and block until done; failures
// come back as a Status, never as an exception.
class Store {
 public:
  virtual ~Store() = default;

  // Sets *found; a missing key is OK. The value's bytes may stay the store's own until value->Reset().
  virtual rocksdb::Status Get(const rocksdb::Slice& key, rocksdb::PinnableSlice* value, bool* found) = 0;
  virtual rocksdb::Status Put(const rocksdb::Slice& key, const rocksdb::Slice& value) = 0;
  virtual rocksdb::Status Delete(const rocksdb::Slice& key) = 0;
  // Reads up to `entries` entries from the first key at or after `start`; adds their sizes to *bytes and
  // counts them in *read.
  virtual rocksdb::Status Scan(const rocksdb::Slice& start, uint64_t entries, uint64_t* read,
                               uint64_t* bytes) = 0;
  // Writes a batch without the write-ahead log: for preloading. Durable once flushed.
  virtual rocksdb::Status Load(rocksdb::WriteBatch* batch) = 0;
  // Writes all memtables out and waits for it.
  virtual rocksdb::Status Flush() = 0;
  // Bytes that compaction has still to rewrite, an estimate; 0 when the store has settled.
  virtual uint64_t PendingCompactionBytes() = 0;
  // Whether a flush or a compaction runs.
  virtual bool CompactionRunning() = 0;
  // Whether one is due and will run by itself.
  virtual bool CompactionDue() = 0;
  // Asked a thousand times a second.
  virtual WriteCondition CurrentWriteCondition() = 0;
  virtual StoreState State() = 0;
  // Sets all tickers and histograms of State() to 0, those of level 0 too.
  virtual void ResetStatistics() = 0;
  // Closes properly. The store may not be used afterwards. Idempotent.
  virtual rocksdb::Status Close() = 0;
};

}  // namespace rocktune
