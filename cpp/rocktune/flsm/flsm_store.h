#pragma once

#include <rocksdb/options.h>

#include <memory>
#include <string>

#include "rocktune/flsm/flsm_compactor.h"
#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/flsm/flsm_statistics.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {

class FlsmListener;
class FlsmShapeFile;

// A RocksDB whose tree has runs of its own shape, which can change at any time (RusKey, section 4).
//
// It is a rocksdb::DB: get, put, delete, batches, iterators, snapshots and all that concerns the default
// column family. Compactions are its own; CompactRange and options about them are of no use. Thread-safe as
// RocksDB is.
class FlsmStore : public RecordedLookups<FlsmRecorder> {
 public:
  // Creates a store or opens the one that is there, with its shape and policies; those of `layout` are for a
  // new one. Fails with InvalidArgument for a layout that makes no sense or is not the store's, and for a
  // RocksDB database that is none of these; with what RocksDB says otherwise.
  static rocksdb::Status Open(const rocksdb::Options& options, const FlsmOptions& layout,
                              const std::string& path, std::unique_ptr<FlsmStore>* store);
  ~FlsmStore() override;

  // From now on; see FlsmTransition, of which the lazy one is refused with files. It survives closing, unless
  // the status says that it could not be kept.
  rocksdb::Status SetPolicy(int level, int policy, FlsmTransition transition = FlsmTransition::kFlexible);
  FlsmShape Shape() const { return compactor_->Shape(); }
  // Since it was opened.
  FlsmStatistics Statistics() const;
  // Counts time that the caller spent in iterators, which the store does not see by itself, as busy.
  void AddBusy(uint64_t nanoseconds) { recorder_->AddBusy(nanoseconds); }
  // Returns when no compaction is due.
  void WaitUntilSettled() { compactor_->WaitUntilSettled(); }
  // The last failure of a compaction that has not succeeded since.
  rocksdb::Status LastFailure() const { return compactor_->LastFailure(); }

  // Compactions that are due or run are those of this store; all else is RocksDB's.
  using StackableDB::GetIntProperty;
  bool GetIntProperty(rocksdb::ColumnFamilyHandle* family, const rocksdb::Slice& property,
                      uint64_t* value) override;
  using StackableDB::Put;
  rocksdb::Status Put(const rocksdb::WriteOptions& options, rocksdb::ColumnFamilyHandle* family,
                      const rocksdb::Slice& key, const rocksdb::Slice& value) override;
  using StackableDB::Delete;
  rocksdb::Status Delete(const rocksdb::WriteOptions& options, rocksdb::ColumnFamilyHandle* family,
                         const rocksdb::Slice& key) override;
  using StackableDB::Write;
  rocksdb::Status Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* batch) override;
  // One of `sample_every` takes the compactor's lock for a moment, to count the runs that it goes through.
  using StackableDB::NewIterator;
  rocksdb::Iterator* NewIterator(const rocksdb::ReadOptions& options,
                                 rocksdb::ColumnFamilyHandle* family) override;
  rocksdb::Status Resume() override;
  rocksdb::Status Close() override;

 private:
  FlsmStore(rocksdb::DB* db, std::unique_ptr<FlsmRecorder> recorder, std::shared_ptr<FlsmListener> listener,
            std::shared_ptr<ManifestGuard> guard, FlsmShape shape, const FlsmOptions& layout,
            FlsmCompactor::OnChange on_change);

  const std::unique_ptr<FlsmRecorder> recorder_;
  const std::shared_ptr<FlsmListener> listener_;
  const uint64_t first_entry_;  // the database's sequence number when it was opened
  std::unique_ptr<FlsmCompactor> compactor_;
};

// Reads the shape of a store from its directory, which may be open elsewhere, and changes nothing. Fails with
// NotFound where there is none, Corruption where it cannot be read, and with what RocksDB says otherwise.
rocksdb::Status ReadShape(const std::string& path, FlsmShape* shape);

}  // namespace rocktune
