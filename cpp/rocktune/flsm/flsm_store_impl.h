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

// The largest number of files that may lie in level 0 of a store with these options and FlsmOptions'
// `level0_runs`.
uint64_t MaxLevel0Runs(int level0_runs, const rocksdb::Options& options);

// The store of FlsmStore::Open. Its calls are in layers: Get and other reads in flsm_reads.h, Put and other
// writes in flsm_writes.h, refused calls in flsm_refusals.h; what has to do with its own compactions is here.
class FlsmStoreImpl : public FlsmRefusals {
 public:
  // Takes over an open database. `file` and `on_change` write the shape. `layout` is complete.
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
  // StackableDB does not forward these two, in 7.8 or at all.
  rocksdb::Status Resume() override;
  void GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* metadata) override;
  // Adds a file with the shape, which Checkpoint and BackupEngine then copy.
  rocksdb::Status GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
                                          std::vector<rocksdb::LiveFileStorageInfo>* files) override;
  rocksdb::Status PauseBackgroundWork() override;
  rocksdb::Status ContinueBackgroundWork() override;
  rocksdb::Status Close() override;

 protected:
  // One of `sample_every` takes the compactor's lock for a moment, to count the runs the iterator reads.
  void CountIterators(uint64_t count) override;
  rocksdb::Status CheckOptions(const std::unordered_map<std::string, std::string>& changes) const override;
  void OnOptionsSet() override;
  rocksdb::Status WaitForOwn(std::chrono::microseconds timeout) override {
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
