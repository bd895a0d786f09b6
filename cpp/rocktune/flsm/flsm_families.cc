#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "rocktune/flsm/flsm_listener.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/flsm/flsm_shape_file.h"
#include "rocktune/flsm/flsm_store_impl.h"

// An FlsmStore's column families: adding, creating, dropping and releasing them.

namespace rocktune {
namespace {

// Maximum time for which DestroyColumnFamilyHandle waits for a moment without flushes.
constexpr std::chrono::milliseconds kMaxDestroyWait{100};

}  // namespace

void FlsmStoreImpl::AddFamily(const FlsmPlan& plan, Family* handle) {
  auto tree = std::make_shared<FlsmTree>();
  tree->name = plan.name;
  tree->id = handle->GetID();
  tree->handle = handle;
  tree->level0_runs = plan.layout.level0_runs;
  tree->owns_filters = plan.layout.filters.bits_per_key > 0;
  tree->shape_number = plan.shape_number;
  tree->recorder =
      std::make_unique<FlsmRecorder>(GetEnv(), plan.layout.sample_every, plan.shape.slots, merges_);
  const auto on_change = [file = file_, filters = plan.filters, number = plan.shape_number](
                             const FlsmShape& changed, uint64_t change) {
    if (filters != nullptr) {
      filters->SetLevelsInUse(LevelsToFilter(changed));
    }
    return file->Write(number, changed, change);
  };
  tree->compactor = std::make_shared<FlsmCompactor>(GetBaseDB(), handle, commits_, tree->recorder.get(),
                                                    &workers_, plan.shape, plan.layout.reshape_bytes_per_s,
                                                    plan.layout.max_merge_bytes, on_change);
  if (plan.filters != nullptr) {
    plan.filters->SetLevelsInUse(LevelsToFilter(tree->compactor->Shape()));
  }
  listener_->Add(tree->id, tree->name, tree->compactor.get(), tree->recorder.get());
  GetBaseDB()->GetIntProperty(handle, Properties::kNumEntriesActiveMemTable, &tree->first_entries);
  tree->compactor->OnMissedFlushes();  // flushes since the database was opened had no receiver
  trees_.Add(tree);
  workers_.Add(tree->compactor, plan.layout.workers);
}

rocksdb::Status FlsmStoreImpl::CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options,
                                                  const std::string& name, const FlsmOptions& layout,
                                                  Family** handle) {
  *handle = nullptr;
  FlsmPlan plan;
  rocksdb::Status status = PlanNewFamily(name, options, layout, &plan);
  if (!status.ok()) {
    return status;
  }
  const std::lock_guard<std::mutex> lock(families_mutex_);
  const FlsmTrees::Trees trees = trees_.All();
  if (std::any_of(trees.begin(), trees.end(),
                  [&name](const auto& tree) { return tree->name == name && !tree->dropped; })) {
    return rocksdb::Status::InvalidArgument("Column family already exists");  // as RocksDB says it
  }
  DestroyDroppedHandles({});
  // Before RocksDB creates the family: after a crash in between, a family without a shape would be refused.
  plan.shape_number = file_->Add(name, plan.shape);
  status = file_->Save();
  if (status.ok()) {
    status = db_->CreateColumnFamily(plan.options, name, handle);
  }
  if (!status.ok()) {
    file_->Remove(plan.shape_number);  // from the file with the next change
    return status;
  }
  AddFamily(plan, *handle);
  return status;
}

rocksdb::Status FlsmStoreImpl::CreateColumnFamily(const rocksdb::ColumnFamilyOptions& options,
                                                  const std::string& name, Family** handle) {
  return CreateColumnFamily(options, name, FlsmOptions(), handle);
}

rocksdb::Status FlsmStoreImpl::CreateColumnFamilies(const rocksdb::ColumnFamilyOptions& options,
                                                    const std::vector<std::string>& names,
                                                    std::vector<Family*>* handles) {
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  std::transform(names.begin(), names.end(), std::back_inserter(families),
                 [&options](const auto& name) { return rocksdb::ColumnFamilyDescriptor(name, options); });
  return CreateColumnFamilies(families, handles);
}

rocksdb::Status FlsmStoreImpl::CreateColumnFamilies(
    const std::vector<rocksdb::ColumnFamilyDescriptor>& families, std::vector<Family*>* handles) {
  handles->clear();
  for (const rocksdb::ColumnFamilyDescriptor& family : families) {
    Family* handle = nullptr;
    rocksdb::Status status = CreateColumnFamily(family.options, family.name, &handle);
    if (!status.ok()) {
      return status;
    }
    handles->push_back(handle);
  }
  return rocksdb::Status::OK();
}

rocksdb::Status FlsmStoreImpl::DropColumnFamily(Family* family) {
  const std::lock_guard<std::mutex> lock(families_mutex_);
  FlsmTree* tree = trees_.Find(family);
  if (tree == nullptr || tree->id == 0 || tree->dropped) {
    return StackableDB::DropColumnFamily(family);
  }
  const FlsmCommits::Drop drop(commits_.get(), tree->id);
  // Ends the family's running compactions, too: RocksDB's compactions look for it. The compactor goes on
  // until then: a write that is stopped may wait for a compaction, and the drop for the write.
  rocksdb::Status status = StackableDB::DropColumnFamily(family);
  if (!status.ok()) {
    return status;
  }
  tree->dropped = true;
  tree->compactor->End();
  listener_->Remove(tree->id);
  workers_.Remove(tree->compactor.get());
  tree->compactor->WaitUntilIdle();
  file_->Remove(tree->shape_number);
  // If it cannot be saved, the file names a family that RocksDB does not have, which counts for nothing.
  file_->Save().PermitUncheckedError();
  return status;
}

rocksdb::Status FlsmStoreImpl::DropColumnFamilies(const std::vector<Family*>& families) {
  for (Family* family : families) {
    rocksdb::Status status = DropColumnFamily(family);
    if (!status.ok()) {
      return status;
    }
  }
  return rocksdb::Status::OK();
}

rocksdb::Status FlsmStoreImpl::DestroyColumnFamilyHandle(Family* family) {
  const std::lock_guard<std::mutex> lock(families_mutex_);
  if (closed_) {
    return rocksdb::Status::OK();  // Close has released all handles
  }
  FlsmTree* tree = trees_.Find(family);
  if (tree == nullptr || tree->handle != family) {
    return StackableDB::DestroyColumnFamilyHandle(family);
  }
  if (!tree->dropped) {
    return rocksdb::Status::OK();  // its compactions still need it
  }
  tree->handle = nullptr;
  trees_.Remove(tree->id);
  dropped_handles_.push_back(family);
  DestroyDroppedHandles(kMaxDestroyWait);
  return rocksdb::Status::OK();
}

void FlsmStoreImpl::DestroyDroppedHandles(std::chrono::milliseconds max_wait) {
  const auto end = std::chrono::steady_clock::now() + max_wait;
  while (!dropped_handles_.empty() && HasRunningFlushes(db_)) {
    if (std::chrono::steady_clock::now() >= end) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (Family* handle : dropped_handles_) {
    StackableDB::DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  dropped_handles_.clear();
}

void FlsmStoreImpl::EndFamilies() {
  workers_.Stop();
  while (!dropped_handles_.empty()) {  // they must be gone before the database, which waits for flushes, too
    DestroyDroppedHandles(kMaxDestroyWait);
  }
  for (const auto& tree : trees_.All()) {
    listener_->Remove(tree->id);
    workers_.Remove(tree->compactor.get());
    tree->compactor->End();
    tree->compactor->WaitUntilIdle();
    if (tree->handle != nullptr) {
      StackableDB::DestroyColumnFamilyHandle(std::exchange(tree->handle, nullptr)).PermitUncheckedError();
    }
  }
}

}  // namespace rocktune
