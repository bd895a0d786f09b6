#pragma once

#include <rocksdb/options.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocktune/flsm/flsm_compactor.h"
#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/flsm/flsm_statistics.h"
#include "rocktune/util/rocksdb_calls.h"
#include "rocktune/util/rocksdb_refusals.h"

namespace rocktune {

class FlsmListener;
class FlsmShapeFile;

// A RocksDB whose tree has runs of its own shape, which can change at any time (RusKey, section 4).
//
// It is a rocksdb::DB with the default column family alone. Reads, writes, snapshots, iterators, flushes and
// properties are RocksDB's; lookups and writes of every kind are counted or timed (Statistics). Compactions
// are the store's own. With NotSupported, and without any effect, it refuses
// - further column families: CreateColumnFamily, CreateColumnFamilies, CreateColumnFamilyWithImport;
// - tables from elsewhere: IngestExternalFile(s), PrepareFileIngestion, CommitFileIngestionHandles;
// - compactions by others: CompactRange, CompactFiles, SuggestCompactRange, PromoteL0, ClipColumnFamily;
// - options that its tree does not bear (SetOptions): disable_auto_compactions, compression_per_level, and a
//   filter policy where the layout has filters. Level-0 triggers that are out of order are InvalidArgument;
//   others count from now on, and so does target_file_size_base.
// DisableManualCompaction and EnableManualCompaction do nothing. What DeleteFile and DeleteFilesInRange(s)
// take away the shape knows as soon as its files are gone. What is done through GetBaseDB or GetRootDB, or
// to the database within a rocksdb::TransactionDB, is neither checked nor timed. docs/design/flsm-support.md
// has the whole list. Thread-safe as RocksDB is.
class FlsmStore : public OneFamilyOwnCompactions<RecordedCalls<FlsmRecorder>> {
 public:
  // Creates a store or opens the one that is there, with its shape and policies; those of `given` are for a
  // new one. A checkpoint or a restored backup of a store, made through the store, is one. Fails with
  // InvalidArgument for a layout that makes no sense, for another size ratio or fewer levels than the store
  // has, for a RocksDB database that is none of these, and for a missing one unless
  // options.create_if_missing, when nothing is made; with NotSupported, before anything is written, for
  // options under which its compactions could not work (several paths, allow_ingest_behind) and for a store
  // that has further column families; with what RocksDB says otherwise. Compaction style, number of levels,
  // disable_auto_compactions, compression_per_level and level_compaction_dynamic_level_bytes are the store's
  // own, whatever `options` says.
  static rocksdb::Status Open(const rocksdb::Options& options, const FlsmOptions& given,
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
  // Returns OK when no compaction is due. While compactions fail it returns the failure, which does not end
  // them: they are tried again. ShutdownInProgress if the store is closed meanwhile. Between
  // PauseBackgroundWork and ContinueBackgroundWork it waits for the latter.
  rocksdb::Status WaitUntilSettled() { return compactor_->WaitUntilSettled(); }
  // The last failure of a compaction that has not succeeded since.
  rocksdb::Status LastFailure() const { return compactor_->LastFailure(); }

  // Compactions that are due or run are those of this store; all else is RocksDB's.
  using StackableDB::GetProperty;
  bool GetProperty(rocksdb::ColumnFamilyHandle* family, const rocksdb::Slice& property,
                   std::string* value) override;
  using StackableDB::GetIntProperty;
  bool GetIntProperty(rocksdb::ColumnFamilyHandle* family, const rocksdb::Slice& property,
                      uint64_t* value) override;
  bool GetAggregatedIntProperty(const rocksdb::Slice& property, uint64_t* value) override;
  // These two RocksDB's wrappers do not forward, in 7.8 or at all.
  rocksdb::Status Resume() override;
  void GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* metadata) override;
  // Lets Checkpoint and BackupEngine take the shape along, as one file more. Copies by file name do without
  // it.
  rocksdb::Status GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
                                          std::vector<rocksdb::LiveFileStorageInfo>* files) override;
  // The store's own compactions too, of which those in work are ended.
  rocksdb::Status PauseBackgroundWork() override;
  rocksdb::Status ContinueBackgroundWork() override;
  // Calls compactions off that are in work. Aborted, as RocksDB's, while there are snapshots: the store goes
  // on as before, and can be closed later.
  rocksdb::Status Close() override;

 protected:
  // One of `sample_every` takes the compactor's lock for a moment, to count the runs that it goes through.
  void CountIterators(uint64_t count) override;
  rocksdb::Status CheckOptions(const std::unordered_map<std::string, std::string>& changes) const override;
  void OnOptionsSet() override;
  rocksdb::Status WaitForOwn(std::chrono::microseconds timeout) override {
    return compactor_->WaitUntilSettled(timeout);
  }

 private:
  FlsmStore(rocksdb::DB* db, std::unique_ptr<FlsmRecorder> recorder, std::shared_ptr<FlsmListener> listener,
            std::shared_ptr<ManifestGuard> guard, FlsmShape shape, const FlsmOptions& layout,
            std::shared_ptr<FlsmShapeFile> file, FlsmCompactor::OnChange on_change);

  const std::unique_ptr<FlsmRecorder> recorder_;
  const int level0_runs_;    // FlsmOptions'
  const bool owns_filters_;  // whether tables are filtered by the layout
  const std::shared_ptr<FlsmListener> listener_;
  const std::shared_ptr<FlsmShapeFile> file_;
  const uint64_t first_entry_;  // the database's sequence number when it was opened
  std::unique_ptr<FlsmCompactor> compactor_;
};

// Loads the newest options of a store, or of a copy of one, with which a stock RocksDB opens it: its own
// options file says compaction style none, under which nothing would ever be compacted, and RocksDB's
// defaults have too few levels. The style is leveled; all else is as in the file. Whoever has written to it
// so may open the original as an FLSM store again, but not a copy that never was one: a stock RocksDB deletes
// the copy's shape. Fails with what rocksdb::LoadLatestOptions says.
rocksdb::Status LoadStockOptions(const std::string& path, rocksdb::Options* options);

// Reads the shape of a store from its directory, which may be open elsewhere, and changes nothing. Fails with
// NotFound where there is none, Corruption where it cannot be read, and with what RocksDB says otherwise.
rocksdb::Status ReadShape(const std::string& path, FlsmShape* shape);

}  // namespace rocktune
