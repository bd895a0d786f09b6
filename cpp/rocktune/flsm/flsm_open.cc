#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

#include <utility>

#include "rocktune/flsm/flsm_filters.h"
#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/flsm/flsm_listener.h"
#include "rocktune/flsm/flsm_runs.h"
#include "rocktune/flsm/flsm_shape_file.h"
#include "rocktune/flsm/flsm_store_impl.h"
#include "rocktune/util/rocksdb_compat.h"

// FlsmStore::Open, and reading a store without opening it as one.

namespace rocktune {
namespace {

// What the store's own compactions ask of RocksDB: none by itself, and a level for each run.
rocksdb::Options TreeOptions(const rocksdb::Options& given, const FlsmShape& shape) {
  rocksdb::Options options = given;
  options.compaction_style = rocksdb::kCompactionStyleNone;
  // With it RocksDB would not slow writes, and level 0 would grow without end.
  options.disable_auto_compactions = false;
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

// Opens RocksDB under a store whose shape is known.
rocksdb::Status OpenTree(const rocksdb::Options& options, const FlsmOptions& layout, const std::string& path,
                         std::shared_ptr<FlsmShapeFile> file, FlsmShape shape,
                         std::unique_ptr<FlsmStore>* store) {
  shape.granularity = layout.granularity;
  shape.file_bytes = options.target_file_size_base;
  shape.max_level0_files = MaxLevel0Runs(layout.level0_runs, options);
  auto listener = std::make_shared<FlsmListener>();
  auto guard = std::make_shared<ManifestGuard>();
  rocksdb::Options tree = TreeOptions(options, shape);
  tree.listeners.insert(tree.listeners.end(), {listener, guard});
  std::shared_ptr<FlsmFilterPolicy> filters;
  rocksdb::Status status = SetFilters(layout.filters, shape, &tree, &filters);
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
    store->reset(new FlsmStoreImpl(db.release(), std::move(recorder), std::move(listener), std::move(guard),
                                   std::move(shape), layout, file, on_change));
    if (filters != nullptr) {
      filters->SetLevelsInUse((*store)->Shape().LevelsInUse());
    }
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
  return OpenTree(options, layout, path, std::move(file), std::move(shape), store);
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
