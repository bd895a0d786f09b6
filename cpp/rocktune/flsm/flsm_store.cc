#include "rocktune/flsm/flsm_store.h"

#include <rocksdb/table.h>

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

}  // namespace

rocksdb::Status FlsmStore::Open(const rocksdb::Options& options, const FlsmOptions& layout,
                                const std::string& path, std::unique_ptr<FlsmStore>* store) {
  rocksdb::Status status = CheckLayout(layout);
  if (!status.ok()) {
    return status;
  }
  auto file = std::make_shared<FlsmShapeFile>(options.env, path);
  FlsmShape shape;
  status = file->Read(&shape);
  if (status.IsNotFound()) {
    if (options.env->FileExists(path + "/CURRENT").ok()) {
      return rocksdb::Status::InvalidArgument(path, "is a RocksDB database, but no FLSM store");
    }
    shape = EmptyShape(layout, options.write_buffer_size, options.target_file_size_base);
    status = options.env->CreateDirIfMissing(path);
    if (status.ok()) {
      status = file->Write(shape, 0);  // before the database, which without it would be foreign
    }
  } else if (status.ok() && layout.levels > shape.deepest()) {
    shape.levels.resize(static_cast<std::size_t>(layout.levels),
                        FlsmLevel{shape.levels.back().policy, 0, false, {}});
  }
  if (!status.ok()) {
    return status;
  }
  shape.granularity = layout.granularity;
  shape.file_bytes = options.target_file_size_base;
  // As many again may come while these are merged before RocksDB slows writes.
  shape.level0_most = static_cast<uint64_t>(
      std::clamp(layout.level0_runs, 0, std::max(0, options.level0_slowdown_writes_trigger) / 2));
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
                               std::move(shape), layout, on_change));
    if (filters != nullptr) {
      filters->SetLevelsInUse((*store)->Shape().LevelsInUse());
    }
  }
  return status;
}

FlsmStore::FlsmStore(rocksdb::DB* db, std::unique_ptr<FlsmRecorder> recorder,
                     std::shared_ptr<FlsmListener> listener, std::shared_ptr<ManifestGuard> guard,
                     FlsmShape shape, const FlsmOptions& layout, FlsmCompactor::OnChange on_change)
    : RecordedLookups(db, recorder.get()),
      recorder_(std::move(recorder)),
      listener_(std::move(listener)),
      first_entry_(db->GetLatestSequenceNumber()),
      compactor_(std::make_unique<FlsmCompactor>(db, std::move(guard), recorder_.get(), std::move(shape),
                                                 layout.workers, layout.reshape_bytes_per_s,
                                                 std::move(on_change))) {
  listener_->Tell(compactor_.get());
  compactor_->OnUntold();  // between opening and this nobody was told
}

FlsmStore::~FlsmStore() { FlsmStore::Close().PermitUncheckedError(); }

rocksdb::Status FlsmStore::SetPolicy(int level, int policy, FlsmTransition transition) {
  return compactor_->SetPolicy(level, policy, transition);
}

FlsmStatistics FlsmStore::Statistics() const {
  FlsmStatistics statistics = recorder_->Take(compactor_->Shape().deepest());
  statistics.entries_written = GetLatestSequenceNumber() - first_entry_;
  return statistics;
}

rocksdb::Status FlsmStore::Put(const rocksdb::WriteOptions& options, rocksdb::ColumnFamilyHandle* family,
                               const rocksdb::Slice& key, const rocksdb::Slice& value) {
  return recorder_->Write([&] { return StackableDB::Put(options, family, key, value); });
}

rocksdb::Status FlsmStore::Delete(const rocksdb::WriteOptions& options, rocksdb::ColumnFamilyHandle* family,
                                  const rocksdb::Slice& key) {
  return recorder_->Write([&] { return StackableDB::Delete(options, family, key); });
}

rocksdb::Status FlsmStore::Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* batch) {
  return recorder_->Write([&] { return StackableDB::Write(options, batch); });
}

rocksdb::Iterator* FlsmStore::NewIterator(const rocksdb::ReadOptions& options,
                                          rocksdb::ColumnFamilyHandle* family) {
  recorder_->CountIterator([this] { return compactor_->Shape(); });
  return StackableDB::NewIterator(options, family);
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

rocksdb::Status FlsmStore::Resume() { return GetBaseDB()->Resume(); }  // StackableDB refuses it

rocksdb::Status FlsmStore::Close() {
  listener_->Tell(nullptr);
  compactor_->Stop();
  return StackableDB::Close();
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
