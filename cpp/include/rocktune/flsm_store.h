#pragma once

#include <rocksdb/options.h>
#include <rocksdb/status.h>
#include <rocksdb/utilities/stackable_db.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/flsm_options.h"
#include "rocktune/flsm_shape.h"
#include "rocktune/flsm_statistics.h"

namespace rocktune {

// A column family of an FlsmStore, for opening it.
struct FlsmFamily {
  std::string name;
  rocksdb::ColumnFamilyOptions options;
  FlsmOptions layout;
};

// A RocksDB database whose LSM-tree has a policy per level, the number of its sorted runs, which can be
// changed while the store serves (RusKey, section 4).
//
//     std::unique_ptr<rocktune::FlsmStore> store;
//     rocktune::FlsmStore::Open(options, {.policies = {4, 2, 1}}, path, &store);
//     store->Put(rocksdb::WriteOptions(), "key", "value");
//     store->SetPolicy(1, 8);   // level 1 may have 8 runs from now on
//
// It is a rocksdb::DB. Get, Put, Write, iterators, snapshots, flushes and all else that is not named here
// behave as RocksDB's own. The store compacts by itself, with threads of its own. It returns NotSupported,
// and changes nothing, for
// - importing a column family: CreateColumnFamilyWithImport;
// - compactions by the caller: CompactRange, CompactFiles, SuggestCompactRange, PromoteL0, ClipColumnFamily;
// - SetOptions of disable_auto_compactions, of compression_per_level, and of a filter policy if the layout
//   has filters.
// SetOptions returns InvalidArgument for level-0 triggers out of order; other level-0 triggers and
// target_file_size_base take effect at once. DisableManualCompaction and EnableManualCompaction do nothing.
// Deletions by DeleteFile and DeleteFilesInRange(s) are noticed when the files are gone. Calls through
// GetBaseDB or GetRootDB, or to the database inside a rocksdb::TransactionDB, are neither refused nor
// counted. docs/design/flsm-support.md has the whole list.
//
// Ingested tables (IngestExternalFile(s), CommitFileIngestionHandles) are part of the shape when the call
// returns. RocksDB puts them into the deepest level where they overlap nothing, where they may be a run
// beyond the policy until the level is next pushed or merged.
//
// Properties of compactions (kCompactionPending, kNumRunningCompactions, kEstimatePendingCompactionBytes) are
// those of the store's own compactions. Checkpoint and BackupEngine copy the shape with the data; copies by
// file name do not. PauseBackgroundWork pauses the store's compactions too. Close ends running compactions;
// while there are snapshots it returns Aborted, as RocksDB does, and the store goes on.
//
// While tables are ingested, other threads must not call DeleteFilesInRange(s) or IncreaseFullHistoryTsLow,
// nor write with DBOptions::track_and_verify_wals_in_manifest: on RocksDB 8.7 and newer the tables could come
// below older entries (docs/design/rocksdb-faults.md). The store's compactions and flushes are safe.
//
// Each column family is a tree with a shape, policies and statistics of its own. All share the compaction
// threads, of which there are as many as the family with most workers asks for. A free thread serves the
// family with the fewest running compactions first. Calls without a family concern the default one, unless
// they say otherwise.
//
// Ownership: the caller owns the store; deleting it closes it. Iterators must be gone before. The store owns
// the handles of its column families, since its compactions need them. So give a handle back with
// DestroyColumnFamilyHandle, of the store or of a TransactionDB around it, and never by `delete`. A dropped
// family's memory is freed when its handle has been given back and no flush runs, at the latest by Close.
// Close and the destructor release the handles that are left; they may not be used afterwards.
// Threads: thread-safe, as RocksDB is. End the writes to a family before it is dropped: RocksDB looks at its
// memtable without a lock (docs/design/rocksdb-faults.md).
class FlsmStore : public rocksdb::StackableDB {
 public:
  // Opens the store at `path`, with the shape and policies it had, or creates one. A checkpoint or a restored
  // backup of a store is a store too. Overrides these options with the store's own: compaction style, number
  // of levels, disable_auto_compactions, compression_per_level, level_compaction_dynamic_level_bytes. Returns
  // - InvalidArgument for a layout out of range, for another size ratio or fewer levels than the store has,
  //   for a RocksDB database that is no FLSM store, for a store with further column families, and for a
  //   missing store unless options.create_if_missing; nothing is created then;
  // - NotSupported, before anything is written, for options under which its compactions could not work
  //   (several paths, allow_ingest_behind);
  // - RocksDB's own errors.
  static rocksdb::Status Open(const rocksdb::Options& options, const FlsmOptions& layout,
                              const std::string& path, std::unique_ptr<FlsmStore>* store);

  // The same with all column families, among them the default one, and their handles in the same order.
  // Creates a family that the store does not have if options.create_missing_column_families, and otherwise
  // returns InvalidArgument. Each family that existed keeps its shape and policies. Returns InvalidArgument,
  // too, for a family given twice, for one that is left out, and for one that was created without the store.
  static rocksdb::Status Open(const rocksdb::DBOptions& options, const std::string& path,
                              const std::vector<FlsmFamily>& families,
                              std::vector<rocksdb::ColumnFamilyHandle*>* handles,
                              std::unique_ptr<FlsmStore>* store);

  // Opens the store at `path` for reading, with its filters, while it may be open in another process. Returns
  // a stock RocksDB database, which compacts nothing and records no FlsmStatistics; ReadShape returns its
  // shape. Writes nothing but RocksDB's LOG. Returns NotFound if there is no store, Corruption if its shape
  // cannot be parsed, and RocksDB's own errors.
  static rocksdb::Status OpenForReadOnly(const rocksdb::Options& options, const std::string& path,
                                         std::unique_ptr<rocksdb::DB>* db);
  // The same with some of the column families, among them the default one. The caller destroys the handles,
  // with DestroyColumnFamilyHandle, before the database. Returns InvalidArgument for a family that the store
  // does not have.
  static rocksdb::Status OpenForReadOnly(const rocksdb::DBOptions& options, const std::string& path,
                                         const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                                         std::vector<rocksdb::ColumnFamilyHandle*>* handles,
                                         std::unique_ptr<rocksdb::DB>* db);

  // Creates a column family with a layout; rocksdb::DB's CreateColumnFamily and CreateColumnFamilies create
  // them with FlsmOptions(). After a crash the family is there with its shape, or not at all. Returns
  // InvalidArgument and NotSupported as Open does, and RocksDB's own errors.
  using StackableDB::CreateColumnFamily;
  virtual rocksdb::Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options,
                                             const std::string& name, const FlsmOptions& layout,
                                             rocksdb::ColumnFamilyHandle** handle) = 0;

  // Changes the policy of a level, from 1 on, to `policy` runs, from 1 to T. Survives closing unless the
  // status says that it could not be written. Returns InvalidArgument for a level or a policy out of range,
  // and for kLazy with FlsmGranularity::kFiles, and ColumnFamilyDropped for a dropped family.
  virtual rocksdb::Status SetPolicy(rocksdb::ColumnFamilyHandle* family, int level, int policy,
                                    FlsmTransition transition) = 0;
  rocksdb::Status SetPolicy(int level, int policy, FlsmTransition transition = FlsmTransition::kFlexible) {
    return SetPolicy(DefaultColumnFamily(), level, policy, transition);
  }
  // Returns the present shape of a family's tree.
  virtual FlsmShape Shape(rocksdb::ColumnFamilyHandle* family) const = 0;
  FlsmShape Shape() const { return Shape(DefaultColumnFamily()); }
  // Returns a family's statistics since it was opened or created.
  virtual FlsmStatistics Statistics(rocksdb::ColumnFamilyHandle* family) const = 0;
  FlsmStatistics Statistics() const { return Statistics(DefaultColumnFamily()); }
  // Adds time that the caller spent in iterators to a family's statistics; the store sees only their
  // creation.
  virtual void AddBusy(rocksdb::ColumnFamilyHandle* family, uint64_t nanoseconds) = 0;
  void AddBusy(uint64_t nanoseconds) { AddBusy(DefaultColumnFamily(), nanoseconds); }
  // Waits until no compaction of any family is due. Returns the error if compactions fail, which the store
  // retries all the same, and ShutdownInProgress if the store is closed meanwhile. Does not return between
  // PauseBackgroundWork and ContinueBackgroundWork.
  virtual rocksdb::Status WaitUntilSettled() = 0;
  // Returns the error of a family's latest compaction that failed; OK once one of it has succeeded since.
  virtual rocksdb::Status LastFailure() const = 0;

 protected:
  using StackableDB::StackableDB;
};

// Loads the newest options of a store, or of a copy of one, for a stock RocksDB to open it. The compaction
// style is leveled and all else is as in the OPTIONS file, which itself says style None, under which RocksDB
// would compact nothing. A stock RocksDB deletes the shape from a copy, which then is no FLSM store; it
// leaves the original's shape alone. Returns the errors of rocksdb::LoadLatestOptions.
rocksdb::Status LoadStockOptions(const std::string& path, rocksdb::Options* options);
// The same with all column families.
rocksdb::Status LoadStockOptions(const std::string& path, rocksdb::DBOptions* options,
                                 std::vector<rocksdb::ColumnFamilyDescriptor>* families);

// Reads the shape of the store at `path`, which may be open elsewhere, and changes nothing there. Returns
// NotFound if there is no store, Corruption if its shape cannot be parsed, and RocksDB's own errors.
rocksdb::Status ReadShape(const std::string& path, FlsmShape* shape);
// The same of a column family; InvalidArgument if the store does not have it.
rocksdb::Status ReadShape(const std::string& path, const std::string& family, FlsmShape* shape);

}  // namespace rocktune
