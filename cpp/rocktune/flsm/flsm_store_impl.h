#pragma once

#include <rocksdb/options.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocktune/flsm/flsm_compactor.h"
#include "rocktune/flsm/flsm_recorder.h"
#include "rocktune/flsm/flsm_refusals.h"

namespace rocktune {

class FlsmListener;
class FlsmShapeFile;

// Returns the maximum number of files in level 0 for FlsmOptions' `level0_runs` and RocksDB's triggers in
// `options`.
uint64_t MaxLevel0Runs(int level0_runs, const rocksdb::Options& options);

// The store that FlsmStore::Open returns. Its calls are in layers: reads in flsm_reads.h, writes in
// flsm_writes.h, refused calls in flsm_refusals.h, and calls about its own compactions here. FlsmStore states
// ownership, threads and errors.
class FlsmStoreImpl : public FlsmRefusals {
 public:
  // Owns `db`, an open database. `file` holds the shape, which `on_change` writes. REQUIRES: no field of
  // `layout` is 0 for a default.
  FlsmStoreImpl(rocksdb::DB* db, std::unique_ptr<FlsmRecorder> recorder,
                std::shared_ptr<FlsmListener> listener, std::shared_ptr<ManifestGuard> guard, FlsmShape shape,
                const FlsmOptions& layout, std::shared_ptr<FlsmShapeFile> file,
                FlsmCompactor::OnChange on_change);
  ~FlsmStoreImpl() override;

  using FlsmStore::SetPolicy;
  rocksdb::Status SetPolicy(int level, int policy, FlsmTransition transition) override {
    return compactor_->SetPolicy(level, policy, transition);
  }
  FlsmShape Shape() const override { return compactor_->Shape(); }
  FlsmStatistics Statistics() const override;
  void AddBusy(uint64_t nanoseconds) override { recorder_->AddBusy(nanoseconds); }
  rocksdb::Status WaitUntilSettled() override { return compactor_->WaitUntilSettled(); }
  rocksdb::Status LastFailure() const override { return compactor_->LastFailure(); }

  using StackableDB::GetProperty;
  bool GetProperty(rocksdb::ColumnFamilyHandle* family, const rocksdb::Slice& property,
                   std::string* value) override;
  using StackableDB::GetIntProperty;
  bool GetIntProperty(rocksdb::ColumnFamilyHandle* family, const rocksdb::Slice& property,
                      uint64_t* value) override;
  bool GetAggregatedIntProperty(const rocksdb::Slice& property, uint64_t* value) override;
  // StackableDB forwards neither Resume (in RocksDB 7.8) nor GetAllColumnFamilyMetaData (in any version).
  rocksdb::Status Resume() override;
  void GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* metadata) override;
  // Adds a file with the shape, which Checkpoint and BackupEngine then copy.
  rocksdb::Status GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
                                          std::vector<rocksdb::LiveFileStorageInfo>* files) override;
  rocksdb::Status PauseBackgroundWork() override;
  rocksdb::Status ContinueBackgroundWork() override;
  rocksdb::Status Close() override;

 protected:
  // Takes the compactor's lock for one iterator in `sample_every`, to count its runs.
  void CountIterators(uint64_t count) override;
  rocksdb::Status CheckOptions(const std::unordered_map<std::string, std::string>& changes) const override;
  void OnIngested() override { compactor_->OnIngested(); }
  void OnOptionsSet() override;
  rocksdb::Status WaitForOwnCompactions(std::chrono::microseconds timeout) override {
    return compactor_->WaitUntilSettled(timeout);
  }

 private:
  const std::unique_ptr<FlsmRecorder> recorder_;
  const int level0_runs_;    // FlsmOptions'
  const bool owns_filters_;  // true if the layout has filters
  const std::shared_ptr<FlsmListener> listener_;
  const std::shared_ptr<FlsmShapeFile> file_;
  const uint64_t first_entry_;  // the database's sequence number when it was opened
  std::unique_ptr<FlsmCompactor> compactor_;
};

}  // namespace rocktune
