#include "rocktune/flsm/flsm_store_impl.h"

#include <rocksdb/convenience.h>
#include <rocksdb/file_checksum.h>

#include <algorithm>
#include <utility>

#include "rocktune/flsm/flsm_listener.h"
#include "rocktune/flsm/flsm_shape_file.h"

namespace rocktune {
namespace {

bool IsCompactionProperty(const rocksdb::Slice& property) {
  using Properties = rocksdb::DB::Properties;
  return property == Properties::kCompactionPending || property == Properties::kNumRunningCompactions ||
         property == Properties::kEstimatePendingCompactionBytes;
}

// Returns the value of a property for which IsCompactionProperty is true.
uint64_t CompactionProperty(const FlsmCompactor& compactor, const rocksdb::Slice& property) {
  const FlsmCompactionDebt debt = compactor.Debt();
  if (property == rocksdb::DB::Properties::kCompactionPending) {
    return debt.due_tasks > 0 ? 1 : 0;
  }
  return property == rocksdb::DB::Properties::kNumRunningCompactions ? debt.running_tasks : debt.bytes;
}

}  // namespace

FlsmStoreImpl::FlsmStoreImpl(rocksdb::DB* db, std::shared_ptr<FlsmListener> listener,
                             std::shared_ptr<FlsmCommits> commits, std::shared_ptr<FlsmShapeFile> file)
    : FlsmRefusals(db, std::move(commits)),
      listener_(std::move(listener)),
      file_(std::move(file)),
      merges_(std::make_shared<std::atomic<int>>(0)),
      workers_(db) {}

// Stops compacting even if there are snapshots: unlike Close, the destructor of a rocksdb::DB always closes.
FlsmStoreImpl::~FlsmStoreImpl() { EndFamilies(); }

rocksdb::Status FlsmStoreImpl::SetPolicy(Family* family, int level, int policy, FlsmTransition transition) {
  const FlsmTree* tree = trees_.Find(family);
  if (tree == nullptr || tree->dropped) {
    return rocksdb::Status::ColumnFamilyDropped("the column family was dropped, or is not the store's");
  }
  return tree->compactor->SetPolicy(level, policy, transition);
}

FlsmShape FlsmStoreImpl::Shape(Family* family) const {
  const FlsmTree* tree = trees_.Find(family);
  return tree == nullptr ? FlsmShape() : tree->compactor->Shape();
}

FlsmStatistics FlsmStoreImpl::Statistics(Family* family) const {
  const FlsmTree* tree = trees_.Find(family);
  if (tree == nullptr) {
    return {};
  }
  FlsmStatistics statistics = tree->recorder->Statistics(tree->compactor->Shape().deepest());
  uint64_t in_memtable = 0;
  if (!tree->dropped && !closed_) {
    db_->GetIntProperty(tree->handle, Properties::kNumEntriesActiveMemTable, &in_memtable);
  }
  const uint64_t entries = tree->recorder->Entries(in_memtable);
  statistics.entries_written = entries - std::min(entries, tree->first_entries);
  return statistics;
}

rocksdb::Status FlsmStoreImpl::WaitForOwnCompactions(std::chrono::microseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  rocksdb::Status status;
  for (const auto& tree : trees_.All()) {
    if (!status.ok()) {
      break;
    }
    std::chrono::microseconds left = timeout;
    if (timeout.count() > 0) {
      left = std::chrono::duration_cast<std::chrono::microseconds>(end - std::chrono::steady_clock::now());
      left = std::max(left, std::chrono::microseconds(1));
    }
    status = tree->compactor->WaitUntilSettled(left);
    if (tree->dropped) {
      status = rocksdb::Status::OK();  // it has nothing to wait for any more
    }
  }
  return status;
}

rocksdb::Status FlsmStoreImpl::LastFailure() const {
  for (const auto& tree : trees_.All()) {
    rocksdb::Status failure = tree->compactor->LastFailure();
    if (!failure.ok() && !tree->dropped) {
      return failure;
    }
  }
  return rocksdb::Status::OK();
}

void FlsmStoreImpl::CountIterators(Family* family) {
  if (const FlsmTree* tree = trees_.Find(family); tree != nullptr) {
    tree->recorder->CountIterators(1, [tree] { return tree->compactor->Shape(); });
  }
}

void FlsmStoreImpl::OnIngested(Family* family) {
  if (const FlsmTree* tree = trees_.Find(family); tree != nullptr) {
    tree->compactor->OnIngested();
  }
}

void FlsmStoreImpl::OnIngestedSomewhere() {
  const std::lock_guard<std::mutex> lock(families_mutex_);  // or a handle might go meanwhile
  for (const auto& tree : trees_.All()) {
    tree->compactor->OnIngested();
  }
}

bool FlsmStoreImpl::GetProperty(Family* family, const rocksdb::Slice& property, std::string* value) {
  if (uint64_t number = 0; IsCompactionProperty(property) && GetIntProperty(family, property, &number)) {
    *value = std::to_string(number);
    return true;
  }
  return StackableDB::GetProperty(family, property, value);
}

bool FlsmStoreImpl::GetAggregatedIntProperty(const rocksdb::Slice& property, uint64_t* value) {
  if (!IsCompactionProperty(property)) {
    return StackableDB::GetAggregatedIntProperty(property, value);
  }
  *value = 0;
  for (const auto& tree : trees_.All()) {
    *value += CompactionProperty(*tree->compactor, property);
  }
  return true;
}

bool FlsmStoreImpl::GetIntProperty(Family* family, const rocksdb::Slice& property, uint64_t* value) {
  const FlsmTree* tree = IsCompactionProperty(property) ? trees_.Find(family) : nullptr;
  if (tree == nullptr) {
    return StackableDB::GetIntProperty(family, property, value);
  }
  *value = CompactionProperty(*tree->compactor, property);
  return true;
}

rocksdb::Status FlsmStoreImpl::Resume() { return GetBaseDB()->Resume(); }

void FlsmStoreImpl::GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* metadata) {
  GetBaseDB()->GetAllColumnFamilyMetaData(metadata);
}

rocksdb::Status FlsmStoreImpl::GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
                                                       std::vector<rocksdb::LiveFileStorageInfo>* files) {
  const std::lock_guard<std::mutex> lock(families_mutex_);
  rocksdb::LiveFileStorageInfo shape;
  rocksdb::Status status = file_->ReadForCopy(&shape);
  if (!status.ok()) {
    return status;
  }
  if (options.include_checksum_info) {
    shape.file_checksum_func_name = rocksdb::kUnknownFileChecksumFuncName;
    shape.file_checksum = rocksdb::kUnknownFileChecksum;
  }
  status = StackableDB::GetLiveFilesStorageInfo(options, files);
  if (status.ok()) {
    files->push_back(std::move(shape));
  }
  return status;
}

rocksdb::Status FlsmStoreImpl::PauseBackgroundWork() {
  // Before RocksDB's call, which waits for running compactions but does not prevent new ones by CompactFiles.
  workers_.Pause(false);
  rocksdb::Status status = StackableDB::PauseBackgroundWork();
  if (!status.ok()) {
    workers_.Continue();
  }
  return status;
}

rocksdb::Status FlsmStoreImpl::ContinueBackgroundWork() {
  rocksdb::Status status = StackableDB::ContinueBackgroundWork();
  if (status.ok()) {
    workers_.Continue();
  }
  return status;
}

rocksdb::Status FlsmStoreImpl::Close() {
  workers_.Pause(true);
  // RocksDB would find them too late, when the handles have been released.
  if (uint64_t snapshots = 0;
      !closed_ && db_->GetIntProperty(Properties::kNumSnapshots, &snapshots) && snapshots > 0) {
    workers_.Continue();
    return rocksdb::Status::Aborted("Cannot close DB with unreleased snapshot.");  // as RocksDB says it
  }
  {
    const std::lock_guard<std::mutex> lock(families_mutex_);
    EndFamilies();
    closed_ = true;
  }
  return StackableDB::Close();
}

rocksdb::Status FlsmStoreImpl::CheckOptions(
    Family* family, const std::unordered_map<std::string, std::string>& changes) const {
  const FlsmTree* tree = trees_.Find(family);
  if (tree == nullptr) {
    return rocksdb::Status::OK();  // RocksDB's own, or unknown to it too
  }
  std::unordered_map<std::string, std::string> triggers;
  for (const auto& [name, value] : changes) {
    if (name == "disable_auto_compactions" && value != "false" && value != "0") {
      return rocksdb::Status::NotSupported(
          name, "without compactions level 0 would grow without bound; use PauseBackgroundWork");
    }
    if (name == "compression_per_level") {
      return rocksdb::Status::NotSupported(
          name, "RocksDB's levels are sorted runs in an FLSM store; set compression");
    }
    const bool names_filters = (name + value).find("filter_policy") != std::string::npos;
    const bool is_other_kind = name == "plain_table_factory" || name == "table_factory";
    if (tree->owns_filters && (names_filters || is_other_kind)) {
      return rocksdb::Status::NotSupported(
          name, "the store's layout sets the filters; open it with bits_per_key 0 to set others");
    }
    if (name.starts_with("level0_")) {
      triggers.emplace(name, value);
    }
  }
  rocksdb::ColumnFamilyOptions changed;
  rocksdb::Status status = rocksdb::GetColumnFamilyOptionsFromMap(rocksdb::ConfigOptions(),
                                                                  GetOptions(family), triggers, &changed);
  const bool is_ordered =
      1 <= changed.level0_file_num_compaction_trigger &&
      changed.level0_file_num_compaction_trigger <= changed.level0_slowdown_writes_trigger &&
      changed.level0_slowdown_writes_trigger <= changed.level0_stop_writes_trigger;
  if (status.ok() && !is_ordered) {
    status = rocksdb::Status::InvalidArgument(
        "level-0 triggers are out of order",
        "they must satisfy 1 <= level0_file_num_compaction_trigger <= level0_slowdown_writes_trigger <= "
        "level0_stop_writes_trigger");
  }
  return status;
}

void FlsmStoreImpl::OnOptionsSet(Family* family) {
  if (const FlsmTree* tree = trees_.Find(family); tree != nullptr) {
    const rocksdb::Options options = GetOptions(family);
    tree->compactor->SetLimits(MaxLevel0Runs(tree->level0_runs, options), options.target_file_size_base);
  }
}

}  // namespace rocktune
