#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/write_batch.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rocktune/util/histogram.h"

namespace rocktune {

// The state of a column family at a time.
struct FamilyState {
  std::vector<uint64_t> level_bytes;      // bytes of tables, by RocksDB's level
  std::vector<uint64_t> level_files;      // number of tables, by RocksDB's level
  uint64_t memtable_bytes = 0;            // of all memtables
  uint64_t pending_compaction_bytes = 0;  // estimate of the bytes that compactions have yet to rewrite
};

// The state of a store at a time. Counters are cumulative since the store was opened or ResetStatistics.
struct StoreState {
  std::vector<FamilyState> families;  // by index
  std::vector<uint64_t> level_bytes;  // bytes of tables of all families, by RocksDB's level
  std::vector<uint64_t> level_files;  // number of tables of all families, by RocksDB's level
  uint64_t db_bytes = 0;              // bytes of tables, blob files and WALs on disk
  // Bytes by use: memtables, block_cache, block_cache_pinned (a part of block_cache) and table_readers.
  std::map<std::string, uint64_t> memory_bytes;
  std::map<std::string, uint64_t> tickers;  // by RocksDB's names, without those that are 0
  struct HistogramFigures {
    uint64_t count = 0, sum = 0;
    double average = 0, p50 = 0, p95 = 0, p99 = 0, max = 0;
  };
  std::map<std::string, HistogramFigures> histograms;  // by RocksDB's names, without empty ones
  Histogram::Snapshot level0_compactions_ns;           // durations of compactions of level 0
};

// How a store treats writes at present: it accepts them at full speed, delays them, or stops them.
enum class WriteCondition { kNormal, kDelayed, kStopped };

// The interface of a key-value store that the runner drives. Its column families have indices from 0.
//
// Threads: all functions but Close are thread-safe. They block until they are done.
// Failure: functions return a Status and throw no exception.
// REQUIRES: `family` is the index of a column family of the store.
class Store {
 public:
  virtual ~Store() = default;

  // Looks up a key. Returns OK with `*found` false if the key does not exist. The store may own the value's
  // bytes until value->Reset().
  virtual rocksdb::Status Get(std::size_t family, const rocksdb::Slice& key, rocksdb::PinnableSlice* value,
                              bool* found) = 0;
  // Writes an entry, which replaces an older one.
  virtual rocksdb::Status Put(std::size_t family, const rocksdb::Slice& key, const rocksdb::Slice& value) = 0;
  // Deletes a key. Returns OK if the key does not exist.
  virtual rocksdb::Status Delete(std::size_t family, const rocksdb::Slice& key) = 0;
  // Deletes all keys from `begin` to `end`, without `end`, with one range tombstone.
  virtual rocksdb::Status DeleteRange(std::size_t family, const rocksdb::Slice& begin,
                                      const rocksdb::Slice& end) = 0;
  // Reads up to `entries` entries in order, from the first key at or after `start`. Adds their number to
  // `*read` and the sizes of their keys and values to `*bytes`.
  virtual rocksdb::Status Scan(std::size_t family, const rocksdb::Slice& start, uint64_t entries,
                               uint64_t* read, uint64_t* bytes) = 0;
  // Adds an entry to a batch for Load.
  virtual rocksdb::Status AddTo(rocksdb::WriteBatch* batch, std::size_t family, const rocksdb::Slice& key,
                                const rocksdb::Slice& value) = 0;
  // Writes a batch without the WAL, for preloading. It is durable after Flush.
  virtual rocksdb::Status Load(rocksdb::WriteBatch* batch) = 0;
  // Flushes the memtables of all families and waits until they are in level 0.
  virtual rocksdb::Status Flush() = 0;
  // Returns an estimate of the bytes that compactions have yet to rewrite; 0 if none is due.
  virtual uint64_t PendingCompactionBytes() = 0;
  // Returns true if a flush or a compaction is running.
  virtual bool CompactionRunning() = 0;
  // Returns true if a flush or a compaction is due and the store will run it by itself.
  virtual bool CompactionDue() = 0;
  // Returns the bytes of all memtables. Is called every 50 ms during load.
  virtual uint64_t MemtableBytes() = 0;
  // Returns the present condition of writes. Must be cheap: it is called every 5 ms during load.
  virtual WriteCondition CurrentWriteCondition() = 0;
  // Returns the bytes of tables, blob files and WALs on disk. Must not wait for a lock of the store: it is
  // called during load for each interval of the series.
  virtual uint64_t DataBytes() = 0;
  // Returns the present state. May block while another thread holds a lock of the store.
  virtual StoreState State() = 0;
  // Sets all tickers, histograms and level0_compactions_ns of State() to 0.
  virtual void ResetStatistics() = 0;
  // Closes the store and returns the first error. May be repeated; no other function may be called
  // afterwards.
  virtual rocksdb::Status Close() = 0;
};

}  // namespace rocktune
