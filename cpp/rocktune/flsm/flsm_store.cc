#include "rocktune/flsm/flsm_store.h"

#include <rocksdb/convenience.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <utility>

#include "rocktune/flsm/flsm_listener.h"
#include "rocktune/flsm/flsm_shape_file.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// What the store's own compactions ask of RocksDB: none by itself, and a level for each run.
rocksdb::Options TreeOptions(const rocksdb::Options& given, const FlsmShape& shape) {
  rocksdb::Options options = given;
  options.compaction_style = rocksdb::kCompactionStyleNone;
  options.disable_auto_compactions =
      false;  // or level 0 would grow without end: it is RocksDB that slows writes
  options.num_levels = shape.PhysicalLevels();
  options.compression_per_level.clear();
  options.level_compaction_dynamic_level_bytes = false;
  return options;
}

// Gives the store's tables filters of their own, unless the scheme has none to give.
rocksdb::Status SetFilters(const FlsmFilters& filters, const FlsmShape& shape, rocksdb::Options* options,
                           std::shared_ptr<FlsmFilterPolicy>* policy) {
  if (filters.bits_per_key == 0) {
    return rocksdb::Status::OK();
  }
  const auto* table = options->table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr) {
    return rocksdb::Status::InvalidArgument("filters: tables that are not block-based have none");
  }
  *policy = std::make_shared<FlsmFilterPolicy>(filters, shape.size_ratio, shape.slots, shape.deepest());
  rocksdb::BlockBasedTableOptions filtered = *table;
  filtered.filter_policy = *policy;
  options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(filtered));
  return rocksdb::Status::OK();
}

bool IsOfCompactions(const rocksdb::Slice& property) {
  using Properties = rocksdb::DB::Properties;
  return property == Properties::kCompactionPending || property == Properties::kNumRunningCompactions ||
         property == Properties::kEstimatePendingCompactionBytes;
}

// So many files may lie in level 0 that as many again may come while these are merged before RocksDB slows
// writes, and that a flush, which waits while its file would make RocksDB slow them, does not wait for ever.
uint64_t MaxLevel0Runs(int level0_runs, const rocksdb::Options& options) {
  const int slowdown = options.level0_slowdown_writes_trigger;
  return static_cast<uint64_t>(std::clamp(level0_runs, 0, std::max(0, std::min(slowdown / 2, slowdown - 2))));
}

// NotSupported for options with which RocksDB's CompactFiles fails whatever it is to compact.
rocksdb::Status CheckServed(const rocksdb::Options& options) {
  if (options.cf_paths.size() > 1 || options.db_paths.size() > 1) {
    return rocksdb::Status::NotSupported("db_paths, cf_paths", "the store has all its tables in one place");
  }
  if (options.allow_ingest_behind) {
    return rocksdb::Status::NotSupported("allow_ingest_behind", "the store uses its deepest level");
  }
  return rocksdb::Status::OK();
}

// NotSupported for a database that has further column families.
rocksdb::Status CheckFamilies(const rocksdb::Options& options, const std::string& path) {
  std::vector<std::string> families;
  rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, path, &families);
  if (status.ok() && families.size() > 1) {
    return rocksdb::Status::NotSupported(path, "has column families besides the default one");
  }
  return status;
}

// Makes the directory of a new store, with its shape.
rocksdb::Status Create(const rocksdb::Options& options, const FlsmOptions& layout, const std::string& path,
                       FlsmShapeFile* file, FlsmShape* shape) {
  if (file->HasDatabase()) {
    return rocksdb::Status::InvalidArgument(path, "is a RocksDB database, but no FLSM store");
  }
  if (!options.create_if_missing) {
    return rocksdb::Status::InvalidArgument(path, "does not exist (create_if_missing is false)");
  }
  *shape = EmptyShape(layout, options.write_buffer_size, options.target_file_size_base);
  const rocksdb::Status status = options.env->CreateDirIfMissing(path);
  // Before the database, which without it would be foreign.
  return status.ok() ? file->Write(*shape, 0) : status;
}

// Checks that an existing store can be opened as asked, and lets it have more levels.
rocksdb::Status Prepare(const rocksdb::Options& options, const FlsmOptions& layout, const std::string& path,
                        FlsmShapeFile* file, FlsmShape* shape) {
  rocksdb::Status status = CheckLayoutOfStore(layout, *shape);
  if (status.ok()) {
    status = CheckFamilies(options, path);
  }
  if (status.ok()) {
    status = file->Adopt();
  }
  if (status.ok() && layout.levels > shape->deepest()) {
    shape->levels.resize(static_cast<std::size_t>(layout.levels),
                         FlsmLevel{shape->levels.back().policy, 0, false, {}});
  }
  return status;
}

}  // namespace

rocksdb::Status FlsmStore::Open(const rocksdb::Options& options, const FlsmOptions& given,
                                const std::string& path, std::unique_ptr<FlsmStore>* store) {
  auto file = std::make_shared<FlsmShapeFile>(options.env, path);
  FlsmShape shape;
  rocksdb::Status status = file->Read(&shape);
  const bool is_new = status.IsNotFound();
  if (!is_new && !status.ok()) {
    return status;
  }
  const FlsmOptions layout = is_new ? LayoutOfNewStore(given) : LayoutOfStore(given, shape);
  status = CheckLayout(layout);
  if (status.ok()) {
    status = CheckServed(options);
  }
  if (status.ok()) {
    status = is_new ? Create(options, layout, path, file.get(), &shape)
                    : Prepare(options, layout, path, file.get(), &shape);
  }
  if (!status.ok()) {
    return status;
  }
  shape.granularity = layout.granularity;
  shape.file_bytes = options.target_file_size_base;
  shape.max_level0_files = MaxLevel0Runs(layout.level0_runs, options);
  auto listener = std::make_shared<FlsmListener>();
  auto guard = std::make_shared<ManifestGuard>();
  rocksdb::Options tree = TreeOptions(options, shape);
  tree.listeners.insert(tree.listeners.end(), {listener, guard});
  std::shared_ptr<FlsmFilterPolicy> filters;
  status = SetFilters(layout.filters, shape, &tree, &filters);
  if (!status.ok()) {
    return status;
  }
  std::unique_ptr<rocksdb::DB> db;
  status = OpenDatabase(tree, path, &db);
  if (status.ok()) {
    const auto on_change = [file, filters](const FlsmShape& changed, uint64_t number) {
      if (filters != nullptr) {
        filters->SetLevelsInUse(changed.LevelsInUse());
      }
      return file->Write(changed, number);
    };
    auto recorder = std::make_unique<FlsmRecorder>(options.env, layout.sample_every, shape.slots);
    store->reset(new FlsmStore(db.release(), std::move(recorder), std::move(listener), std::move(guard),
                               std::move(shape), layout, file, on_change));
    if (filters != nullptr) {
      filters->SetLevelsInUse((*store)->Shape().LevelsInUse());
    }
  }
  return status;
}

FlsmStore::FlsmStore(rocksdb::DB* db, std::unique_ptr<FlsmRecorder> recorder,
                     std::shared_ptr<FlsmListener> listener, std::shared_ptr<ManifestGuard> guard,
                     FlsmShape shape, const FlsmOptions& layout, std::shared_ptr<FlsmShapeFile> file,
                     FlsmCompactor::OnChange on_change)
    : OneFamilyOwnCompactions(db, recorder.get()),
      recorder_(std::move(recorder)),
      level0_runs_(layout.level0_runs),
      owns_filters_(layout.filters.bits_per_key > 0),
      listener_(std::move(listener)),
      file_(std::move(file)),
      first_entry_(db->GetLatestSequenceNumber()),
      compactor_(std::make_unique<FlsmCompactor>(db, std::move(guard), recorder_.get(), std::move(shape),
                                                 layout.workers, layout.reshape_bytes_per_s,
                                                 std::move(on_change))) {
  listener_->Tell(compactor_.get());
  compactor_->OnMissedFlushes();  // between opening and this nobody was told
}

// Snapshots or not: RocksDB closes what is deleted.
FlsmStore::~FlsmStore() {
  listener_->Tell(nullptr);
  compactor_->Stop();
}

rocksdb::Status FlsmStore::SetPolicy(int level, int policy, FlsmTransition transition) {
  return compactor_->SetPolicy(level, policy, transition);
}

FlsmStatistics FlsmStore::Statistics() const {
  FlsmStatistics statistics = recorder_->Take(compactor_->Shape().deepest());
  statistics.entries_written = GetLatestSequenceNumber() - first_entry_;
  return statistics;
}

void FlsmStore::CountIterators(uint64_t count) {
  recorder_->CountIterators(count, [this] { return compactor_->Shape(); });
}

bool FlsmStore::GetProperty(rocksdb::ColumnFamilyHandle* family, const rocksdb::Slice& property,
                            std::string* value) {
  if (uint64_t number = 0; IsOfCompactions(property) && GetIntProperty(family, property, &number)) {
    *value = std::to_string(number);
    return true;
  }
  return StackableDB::GetProperty(family, property, value);
}

bool FlsmStore::GetAggregatedIntProperty(const rocksdb::Slice& property, uint64_t* value) {
  return IsOfCompactions(property) ? GetIntProperty(DefaultColumnFamily(), property, value)
                                   : StackableDB::GetAggregatedIntProperty(property, value);
}

bool FlsmStore::GetIntProperty(rocksdb::ColumnFamilyHandle* family, const rocksdb::Slice& property,
                               uint64_t* value) {
  if (property == Properties::kCompactionPending) {
    *value = compactor_->Owed().due_tasks > 0 ? 1 : 0;
    return true;
  }
  if (property == Properties::kNumRunningCompactions) {
    *value = compactor_->Owed().running_tasks;
    return true;
  }
  if (property == Properties::kEstimatePendingCompactionBytes) {
    *value = compactor_->Owed().bytes;
    return true;
  }
  return StackableDB::GetIntProperty(family, property, value);
}

rocksdb::Status FlsmStore::Resume() { return GetBaseDB()->Resume(); }

void FlsmStore::GetAllColumnFamilyMetaData(std::vector<rocksdb::ColumnFamilyMetaData>* metadata) {
  GetBaseDB()->GetAllColumnFamilyMetaData(metadata);
}

rocksdb::Status FlsmStore::GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
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

rocksdb::Status FlsmStore::PauseBackgroundWork() {
  compactor_->Pause(
      false);  // first, for RocksDB waits for compactions in work, and keeps none from beginning
  rocksdb::Status status = StackableDB::PauseBackgroundWork();
  if (!status.ok()) {
    compactor_->Continue();
  }
  return status;
}

rocksdb::Status FlsmStore::ContinueBackgroundWork() {
  rocksdb::Status status = StackableDB::ContinueBackgroundWork();
  if (status.ok()) {
    compactor_->Continue();
  }
  return status;
}

rocksdb::Status FlsmStore::Close() {
  compactor_->Pause(true);
  rocksdb::Status status = StackableDB::Close();
  if (status.IsAborted()) {
    compactor_->Continue();  // it is still open
  } else {
    compactor_->Stop();
  }
  return status;
}

rocksdb::Status FlsmStore::CheckOptions(const std::unordered_map<std::string, std::string>& changes) const {
  std::unordered_map<std::string, std::string> triggers;
  for (const auto& [name, value] : changes) {
    if (name == "disable_auto_compactions" && value != "false" && value != "0") {
      return rocksdb::Status::NotSupported(name, "level 0 would grow without end");
    }
    if (name == "compression_per_level") {
      return rocksdb::Status::NotSupported(name, "RocksDB's levels are runs here; set compression");
    }
    const bool names_filters = (name + value).find("filter_policy") != std::string::npos;
    const bool is_other_kind = name == "plain_table_factory" || name == "table_factory";
    if (owns_filters_ && (names_filters || is_other_kind)) {
      return rocksdb::Status::NotSupported(name, "the layout has the filters");
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
        "level-0 triggers",
        "1 <= level0_file_num_compaction_trigger <= level0_slowdown_writes_trigger <= "
        "level0_stop_writes_trigger does not hold");
  }
  return status;
}

void FlsmStore::OnOptionsSet() {
  const rocksdb::Options options = GetOptions(DefaultColumnFamily());
  compactor_->SetLimits(MaxLevel0Runs(level0_runs_, options), options.target_file_size_base);
}

rocksdb::Status LoadStockOptions(const std::string& path, rocksdb::Options* options) {
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  rocksdb::Status status = rocksdb::LoadLatestOptions(rocksdb::ConfigOptions(), path, &db, &families);
  if (status.ok()) {
    *options = rocksdb::Options(db, families.front().options);
    options->compaction_style = rocksdb::kCompactionStyleLevel;
  }
  return status;
}

rocksdb::Status ReadShape(const std::string& path, FlsmShape* shape) {
  rocksdb::Status status = FlsmShapeFile(rocksdb::Env::Default(), path).Read(shape);
  if (!status.ok()) {
    return status;
  }
  std::unique_ptr<rocksdb::DB> db;
  status = OpenDatabaseReadOnly(TreeOptions(rocksdb::Options(), *shape), path, &db);
  if (status.ok()) {
    ReadRuns(db.get(), shape);
  }
  return status;
}

}  // namespace rocktune
