#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/device/throttled_file_system.h"
#include "rocktune/runner/rocksdb_options.h"
#include "rocktune/runner/store.h"
#include "rocktune/util/histogram.h"
#include "rocktune/util/rocksdb_compat.h"
#include "rocktune/util/run_clock.h"

namespace rocktune {

class Level0Listener;

// How to open a RocksDbStore. Objects behind pointers must outlive the store.
struct RocksDbStoreSetup {
  // The directory of all files of the store; paths in the options are ignored.
  std::string directory;
  // The database's options, and those of its default column family if `families` is empty.
  rocksdb::Options options;
  // All column families, in the order of their indices; the default one is among them. Empty for a database
  // with the default one alone.
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  bool wal = true;    // false writes without the WAL
  bool sync = false;  // true syncs the WAL at each write
  // The file system of all files; files that the directory has already become its adopted ones.
  std::shared_ptr<ThrottledFileSystemImpl> file_system;
  RunClock* clock = nullptr;
  // Called on RocksDB's threads with each background error. Required. Must not block.
  std::function<void(const rocksdb::Status&)> on_background_error;
  // Called after each scan, on the scanning thread, with the nanoseconds of the clock that the scan took. May
  // be null. An FlsmStore needs it, because it does not measure its iterators.
  std::function<void(uint64_t)> on_scan;
  // Opens a database with the default column family alone: a plain RocksDB database, or an object of another
  // subclass of rocksdb::DB.
  std::function<rocksdb::Status(const rocksdb::Options& options, const std::string& directory,
                                std::unique_ptr<rocksdb::DB>* database)>
      open_database = OpenDatabase<rocksdb::DB>;
};

// A store in column families of a RocksDB database, with statistics enabled. Its sleeps and times
// follow the run's clock (see NewRunEnv). RocksDB's automatic recovery from background errors is disabled:
// the first error ends a run. Threads and failure as in Store.
class RocksDbStore : public Store {
 public:
  // Opens the database in the directory, or creates it. Returns the status of `open_database`; `*store` is
  // set only if it is OK.
  static rocksdb::Status Open(const RocksDbStoreSetup& setup, std::unique_ptr<RocksDbStore>* store);

  // Closes the store and ignores the status.
  ~RocksDbStore() override;

  rocksdb::Status Get(std::size_t family, const rocksdb::Slice& key, rocksdb::PinnableSlice* value,
                      bool* found) override;
  rocksdb::Status Put(std::size_t family, const rocksdb::Slice& key, const rocksdb::Slice& value) override;
  rocksdb::Status Delete(std::size_t family, const rocksdb::Slice& key) override;
  rocksdb::Status DeleteRange(std::size_t family, const rocksdb::Slice& begin,
                              const rocksdb::Slice& end) override {
    return db_->DeleteRange(write_options_, families_[family], begin, end);
  }
  rocksdb::Status Scan(std::size_t family, const rocksdb::Slice& start, uint64_t entries, uint64_t* read,
                       uint64_t* bytes) override;
  rocksdb::Status AddTo(rocksdb::WriteBatch* batch, std::size_t family, const rocksdb::Slice& key,
                        const rocksdb::Slice& value) override;
  rocksdb::Status Load(rocksdb::WriteBatch* batch) override;
  rocksdb::Status Flush() override;
  uint64_t PendingCompactionBytes() override;
  bool CompactionRunning() override;
  bool CompactionDue() override;
  WriteCondition CurrentWriteCondition() override;
  uint64_t MemtableBytes() override;
  uint64_t DataBytes() override;
  StoreState State() override;
  void ResetStatistics() override;
  rocksdb::Status Close() override;

  // Returns the database, which the store owns; nullptr after Close.
  rocksdb::DB* db() const { return db_.get(); }

  // Returns the column families, in the order of their indices; the store owns them.
  const std::vector<rocksdb::ColumnFamilyHandle*>& families() const { return families_; }

  // Returns the options that the open database uses, which may differ from those that were given: RocksDB
  // adjusts values. Those of a store with several families are in OptionMaps::families.
  OptionMaps ReadBackOptions() const;

 private:
  explicit RocksDbStore(const RocksDbStoreSetup& setup);

  rocksdb::Status OpenDatabase(const RocksDbStoreSetup& setup, const rocksdb::Options& options);
  // Returns an integer property of a column family; 0 if it does not have it.
  uint64_t IntProperty(rocksdb::ColumnFamilyHandle* family, const std::string& name) const;
  // Returns an integer property of the database, or the default column family's.
  uint64_t IntProperty(const std::string& name) const;
  // Returns the sum of an integer property over the column families.
  uint64_t SumProperty(const std::string& name) const;
  std::map<std::string, uint64_t> MemoryBytes();
  FamilyState StateOf(rocksdb::ColumnFamilyHandle* family) const;

  rocksdb::Status Read(std::size_t family, const rocksdb::Slice& start, uint64_t entries, uint64_t* read,
                       uint64_t* bytes);

  const std::shared_ptr<ThrottledFileSystemImpl> file_system_;
  RunClock* const clock_;
  const std::function<void(uint64_t)> on_scan_;
  std::unique_ptr<rocksdb::Env> env_;
  std::shared_ptr<rocksdb::Statistics> statistics_;
  std::shared_ptr<Level0Listener> level0_;
  Histogram::Snapshot level0_at_reset_;  // of level0_, at the last call of ResetStatistics
  rocksdb::ReadOptions read_options_;
  rocksdb::WriteOptions write_options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  bool owns_handles_ = false;  // of families_; the database owns the default column family's
};

}  // namespace rocktune
