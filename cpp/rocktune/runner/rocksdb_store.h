#pragma once

#include <rocksdb/db.h>
#include <rocksdb/file_system.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "rocktune/runner/rocksdb_options.h"
#include "rocktune/runner/store.h"
#include "rocktune/util/histogram.h"
#include "rocktune/util/rocksdb_compat.h"
#include "rocktune/util/run_clock.h"

namespace rocktune {

class Level0Listener;

// How to open a RocksDbStore. What is pointed at must outlive the store.
struct RocksDbStoreSetup {
  // Everything the store writes lies here, whatever the options say about paths.
  std::string directory;
  rocksdb::Options options;
  bool wal = true;
  bool sync = false;
  std::shared_ptr<rocksdb::FileSystem> file_system;
  RunClock* clock = nullptr;
  // Called on RocksDB's threads with each background error. Must not block.
  std::function<void(const rocksdb::Status&)> on_background_error;
  // Is told by its thread how many of the clock's nanoseconds each scan took, for a database that does not
  // see it by itself; may be null.
  std::function<void(uint64_t)> on_scan;
  // Opens the database: RocksDB itself, or what is built on it and is a rocksdb::DB.
  std::function<rocksdb::Status(const rocksdb::Options& options, const std::string& directory,
                                std::unique_ptr<rocksdb::DB>* database)>
      open_database = OpenDatabase<rocksdb::DB>;
};

// A store on the default column family of a stock RocksDB, with statistics on.
class RocksDbStore : public Store {
 public:
  // Creates the database or opens the one that is there. A failure is the status of DB::Open.
  static rocksdb::Status Open(const RocksDbStoreSetup& setup, std::unique_ptr<RocksDbStore>* store);

  ~RocksDbStore() override;

  rocksdb::Status Get(const rocksdb::Slice& key, rocksdb::PinnableSlice* value, bool* found) override;
  rocksdb::Status Put(const rocksdb::Slice& key, const rocksdb::Slice& value) override;
  rocksdb::Status Delete(const rocksdb::Slice& key) override;
  rocksdb::Status Scan(const rocksdb::Slice& start, uint64_t entries, uint64_t* read,
                       uint64_t* bytes) override;
  rocksdb::Status Load(rocksdb::WriteBatch* batch) override;
  rocksdb::Status Flush() override;
  uint64_t PendingCompactionBytes() override;
  bool CompactionRunning() override;
  bool CompactionDue() override;
  WriteCondition CurrentWriteCondition() override;
  StoreState State() override;
  void ResetStatistics() override;
  rocksdb::Status Close() override;

  // The database, null once it is closed. The store's own.
  rocksdb::DB* db() const { return db_.get(); }

  // What the database really uses.
  OptionMaps ReadBackOptions() const;

 private:
  explicit RocksDbStore(const RocksDbStoreSetup& setup);

  uint64_t IntProperty(const std::string& name) const;
  std::map<std::string, uint64_t> MemoryBytes() const;

  rocksdb::Status Read(const rocksdb::Slice& start, uint64_t entries, uint64_t* read, uint64_t* bytes);

  const std::string directory_;
  RunClock* const clock_;
  const std::function<void(uint64_t)> on_scan_;
  std::unique_ptr<rocksdb::Env> env_;
  std::shared_ptr<rocksdb::Statistics> statistics_;
  std::shared_ptr<Level0Listener> level0_;
  Histogram::Snapshot level0_before_;  // what does not count any more
  rocksdb::ReadOptions read_options_;
  rocksdb::WriteOptions write_options_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace rocktune
