#pragma once

#include <rocksdb/options.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocktune/flsm/flsm_plan.h"
#include "rocktune/flsm/flsm_refusals.h"
#include "rocktune/flsm/flsm_workers.h"

namespace rocktune {

class FlsmListener;
class FlsmShapeFile;

// The store that FlsmStore::Open returns. Its calls are in layers: reads in flsm_reads.h, writes in
// flsm_writes.h, refused calls in flsm_refusals.h, and calls about its families and their compactions here.
// FlsmStore states ownership, threads and errors.
class FlsmStoreImpl : public FlsmRefusals {
  using Family = rocksdb::ColumnFamilyHandle;

 public:
  // Owns `db`, an open database whose listeners include `listener` and `commits`. `file` holds the shapes.
  // AddFamily must be called for each of the database's families.
  FlsmStoreImpl(rocksdb::DB* db, std::shared_ptr<FlsmListener> listener, std::shared_ptr<FlsmCommits> commits,
                std::shared_ptr<FlsmShapeFile> file);
  ~FlsmStoreImpl() override;

  // Begins to compact a family. Owns its handle. REQUIRES: the plan's shape is in the file.
  void AddFamily(const FlsmPlan& plan, Family* handle);

  using FlsmStore::AddBusy;
  using FlsmStore::SetPolicy;
  using FlsmStore::Shape;
  using FlsmStore::Statistics;
  rocksdb::Status SetPolicy(Family* family, int level, int policy, FlsmTransition transition) override;
  FlsmShape Shape(Family* family) const override;
  FlsmStatistics Statistics(Family* family) const override;
  void AddBusy(Family* family, uint64_t nanoseconds) override { RecorderOf(family)->AddBusy(nanoseconds); }
  rocksdb::Status WaitUntilSettled() override { return WaitForOwnCompactions({}); }
  rocksdb::Status LastFailure() const override;

  using FlsmStore::CreateColumnFamily;
  rocksdb::Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                                     const FlsmOptions& layout, Family** handle) override;
  rocksdb::Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options, const std::string& name,
                                     Family** handle) override;
  rocksdb::Status CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                                       const std::vector<std::string>& names,
                                       std::vector<Family*>* handles) override;
  rocksdb::Status CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                                       std::vector<Family*>* handles) override;
  rocksdb::Status DropColumnFamily(Family* family) override;
  rocksdb::Status DropColumnFamilies(const std::vector<Family*>& families) override;
  rocksdb::Status DestroyColumnFamilyHandle(Family* family) override;

  using StackableDB::GetProperty;
  bool GetProperty(Family* family, const rocksdb::Slice& property, std::string* value) override;
  using StackableDB::GetIntProperty;
  bool GetIntProperty(Family* family, const rocksdb::Slice& property, uint64_t* value) override;
  bool GetAggregatedIntProperty(const rocksdb::Slice& property, uint64_t* value) override;
  // StackableDB forwards neither Resume (in RocksDB 7.8) nor GetAllColumnFamilyMetaData (in any version).
  rocksdb::Status Resume() override;
  void GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* metadata) override;
  // Adds a file with the shapes, which Checkpoint and BackupEngine then copy.
  rocksdb::Status GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
                                          std::vector<rocksdb::LiveFileStorageInfo>* files) override;
  rocksdb::Status PauseBackgroundWork() override;
  rocksdb::Status ContinueBackgroundWork() override;
  rocksdb::Status Close() override;

 protected:
  // Takes the compactor's lock for one iterator in `sample_every`, to count its runs.
  void CountIterators(Family* family) override;
  rocksdb::Status CheckOptions(Family* family,
                               const std::unordered_map<std::string, std::string>& changes) const override;
  void OnIngested(Family* family) override;
  void OnIngestedSomewhere() override;
  void OnOptionsSet(Family* family) override;
  rocksdb::Status WaitForOwnCompactions(std::chrono::microseconds timeout) override;

 private:
  // Ends compacting, and releases the handles, which must be gone before the database is closed.
  void EndFamilies();
  // Destroys the handles of dropped families once no flush runs, or keeps them after `max_wait`: the thread
  // of a flush looks at its family's options after the flush has ended, when RocksDB may have freed them with
  // the last handle (docs/design/rocksdb-faults.md). REQUIRES: families_mutex_ is held, or no other call
  // runs.
  void DestroyDroppedHandles(std::chrono::milliseconds max_wait);

  const std::shared_ptr<FlsmListener> listener_;
  const std::shared_ptr<FlsmShapeFile> file_;
  const std::shared_ptr<std::atomic<int>> merges_;  // running merges of all families
  FlsmWorkers workers_;
  // Held while families are created or dropped, and while a copy's list of files is made: a copy without the
  // shape of one of its families would be no store.
  std::mutex families_mutex_;
  std::vector<Family*> dropped_handles_;  // given back by the application; guarded by families_mutex_
  std::atomic<bool> closed_{false};
};

}  // namespace rocktune
