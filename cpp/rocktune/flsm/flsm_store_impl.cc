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

}  // namespace

// Half of the slowdown trigger, so that as many files can arrive again while these are merged. At least two
// less than it, because a flush waits if its file would make RocksDB slow writes.
uint64_t MaxLevel0Runs(int level0_runs, const rocksdb::Options& options) {
  const int slowdown = options.level0_slowdown_writes_trigger;
  return static_cast<uint64_t>(std::clamp(level0_runs, 0, std::max(0, std::min(slowdown / 2, slowdown - 2))));
}

FlsmStoreImpl::FlsmStoreImpl(rocksdb::DB* db, std::unique_ptr<FlsmRecorder> recorder,
                             std::shared_ptr<FlsmListener> listener, std::shared_ptr<ManifestGuard> guard,
                             FlsmShape shape, const FlsmOptions& layout, std::shared_ptr<FlsmShapeFile> file,
                             FlsmCompactor::OnChange on_change)
    : FlsmRefusals(db, recorder.get()),
      recorder_(std::move(recorder)),
      level0_runs_(layout.level0_runs),
      owns_filters_(layout.filters.bits_per_key > 0),
      listener_(std::move(listener)),
      file_(std::move(file)),
      first_entry_(db->GetLatestSequenceNumber()),
      compactor_(std::make_unique<FlsmCompactor>(db, std::move(guard), recorder_.get(), std::move(shape),
                                                 layout.workers, layout.reshape_bytes_per_s,
                                                 std::move(on_change))) {
  listener_->SetCompactor(compactor_.get());
  compactor_->OnMissedFlushes();  // flushes since the database was opened had no receiver
}

// Stops the compactor even if there are snapshots: unlike Close, the destructor of a rocksdb::DB always
// closes.
FlsmStoreImpl::~FlsmStoreImpl() {
  listener_->SetCompactor(nullptr);
  compactor_->Stop();
}

FlsmStatistics FlsmStoreImpl::Statistics() const {
  FlsmStatistics statistics = recorder_->Statistics(compactor_->Shape().deepest());
  statistics.entries_written = GetLatestSequenceNumber() - first_entry_;
  return statistics;
}

void FlsmStoreImpl::CountIterators(uint64_t count) {
  recorder_->CountIterators(count, [this] { return compactor_->Shape(); });
}

bool FlsmStoreImpl::GetProperty(rocksdb::ColumnFamilyHandle* family, const rocksdb::Slice& property,
                                std::string* value) {
  if (uint64_t number = 0; IsCompactionProperty(property) && GetIntProperty(family, property, &number)) {
    *value = std::to_string(number);
    return true;
  }
  return StackableDB::GetProperty(family, property, value);
}

bool FlsmStoreImpl::GetAggregatedIntProperty(const rocksdb::Slice& property, uint64_t* value) {
  return IsCompactionProperty(property) ? GetIntProperty(DefaultColumnFamily(), property, value)
                                        : StackableDB::GetAggregatedIntProperty(property, value);
}

bool FlsmStoreImpl::GetIntProperty(rocksdb::ColumnFamilyHandle* family, const rocksdb::Slice& property,
                                   uint64_t* value) {
  if (property == Properties::kCompactionPending) {
    *value = compactor_->Debt().due_tasks > 0 ? 1 : 0;
    return true;
  }
  if (property == Properties::kNumRunningCompactions) {
    *value = compactor_->Debt().running_tasks;
    return true;
  }
  if (property == Properties::kEstimatePendingCompactionBytes) {
    *value = compactor_->Debt().bytes;
    return true;
  }
  return StackableDB::GetIntProperty(family, property, value);
}

rocksdb::Status FlsmStoreImpl::Resume() { return GetBaseDB()->Resume(); }

void FlsmStoreImpl::GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* metadata) {
  GetBaseDB()->GetAllColumnFamilyMetaData(metadata);
}

rocksdb::Status FlsmStoreImpl::GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
                                                       std::vector<rocksdb::LiveFileStorageInfo>* files) {
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
  compactor_->Pause(false);
  rocksdb::Status status = StackableDB::PauseBackgroundWork();
  if (!status.ok()) {
    compactor_->Continue();
  }
  return status;
}

rocksdb::Status FlsmStoreImpl::ContinueBackgroundWork() {
  rocksdb::Status status = StackableDB::ContinueBackgroundWork();
  if (status.ok()) {
    compactor_->Continue();
  }
  return status;
}

rocksdb::Status FlsmStoreImpl::Close() {
  compactor_->Pause(true);
  rocksdb::Status status = StackableDB::Close();
  if (status.IsAborted()) {
    compactor_->Continue();  // snapshots exist, so the database is still open
  } else {
    compactor_->Stop();
  }
  return status;
}

rocksdb::Status FlsmStoreImpl::CheckOptions(
    const std::unordered_map<std::string, std::string>& changes) const {
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
    if (owns_filters_ && (names_filters || is_other_kind)) {
      return rocksdb::Status::NotSupported(
          name, "the store's layout sets the filters; open it with bits_per_key 0 to set others");
    }
    if (name.starts_with("level0_")) {
      triggers.emplace(name, value);
    }
  }
  rocksdb::ColumnFamilyOptions changed;
  rocksdb::Status status = rocksdb::GetColumnFamilyOptionsFromMap(
      rocksdb::ConfigOptions(), GetOptions(DefaultColumnFamily()), triggers, &changed);
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

void FlsmStoreImpl::OnOptionsSet() {
  const rocksdb::Options options = GetOptions(DefaultColumnFamily());
  compactor_->SetLimits(MaxLevel0Runs(level0_runs_, options), options.target_file_size_base);
}

}  // namespace rocktune
