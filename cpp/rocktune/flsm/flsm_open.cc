#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

#include <utility>

#include "rocktune/flsm/flsm_filters.h"
#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/flsm/flsm_listener.h"
#include "rocktune/flsm/flsm_runs.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/flsm/flsm_shape_file.h"
#include "rocktune/flsm/flsm_store_impl.h"
#include "rocktune/util/rocksdb_compat.h"

// FlsmStore::Open, LoadStockOptions and ReadShape.

namespace rocktune {
namespace {

// Returns the options with those that the store's compactions need: RocksDB compacts nothing by itself, and
// there is a physical level for each run.
rocksdb::Options TreeOptions(const rocksdb::Options& given, const FlsmShape& shape) {
  rocksdb::Options options = given;
  options.compaction_style = rocksdb::kCompactionStyleNone;
  // With `true` RocksDB would never slow or stop writes, and level 0 would grow without bound.
  options.disable_auto_compactions = false;
  options.num_levels = shape.PhysicalLevels();
  options.compression_per_level.clear();
  options.level_compaction_dynamic_level_bytes = false;
  return options;
}

// Sets the layout's filters in the table options; with 0 bits per key the table options keep their own.
rocksdb::Status SetFilters(const FlsmFilters& filters, const FlsmShape& shape, rocksdb::Options* options,
                           std::shared_ptr<FlsmFilterPolicy>* policy) {
  if (filters.bits_per_key == 0) {
    return rocksdb::Status::OK();
  }
  const auto* table = options->table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr) {
    return rocksdb::Status::InvalidArgument(
        "filters need block-based tables; set bits_per_key to 0 or table_factory to block-based");
  }
  *policy = std::make_shared<FlsmFilterPolicy>(filters, shape.size_ratio, shape.slots, shape.deepest());
  rocksdb::BlockBasedTableOptions filtered = *table;
  filtered.filter_policy = *policy;
  options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(filtered));
  return rocksdb::Status::OK();
}

// Returns NotSupported for options with which RocksDB's CompactFiles always fails.
rocksdb::Status CheckOptions(const rocksdb::Options& options) {
  if (options.cf_paths.size() > 1 || options.db_paths.size() > 1) {
    return rocksdb::Status::NotSupported(
        "db_paths, cf_paths", "an FLSM store needs a single path for its tables; leave these options empty");
  }
  if (options.allow_ingest_behind) {
    return rocksdb::Status::NotSupported(
        "allow_ingest_behind",
        "an FLSM store uses the deepest level, which this option reserves; set it to false");
  }
  return rocksdb::Status::OK();
}

// Returns NotSupported for a database with further column families.
rocksdb::Status CheckFamilies(const rocksdb::Options& options, const std::string& path) {
  std::vector<std::string> families;
  rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, path, &families);
  if (status.ok() && families.size() > 1) {
    return rocksdb::Status::NotSupported(
        path, "has further column families; an FLSM store has the default one alone");
  }
  return status;
}

// Creates the directory of a new store and writes its shape.
rocksdb::Status CreateStore(const rocksdb::Options& options, const FlsmOptions& layout,
                            const std::string& path, FlsmShapeFile* file, FlsmShape* shape) {
  if (file->HasDatabase()) {
    return rocksdb::Status::InvalidArgument(path,
                                            "is a RocksDB database, but no FLSM store; choose another path");
  }
  if (!options.create_if_missing) {
    return rocksdb::Status::InvalidArgument(path, "does not exist; set create_if_missing to create a store");
  }
  *shape = EmptyShape(layout, options.write_buffer_size, options.target_file_size_base);
  const rocksdb::Status status = options.env->CreateDirIfMissing(path);
  // Before the database is created: after a crash in between, a database without a shape would be refused.
  return status.ok() ? file->Write(*shape, 0) : status;
}

// Checks that an existing store can have the layout, adopts a copy's shape, and adds levels.
rocksdb::Status PrepareStore(const rocksdb::Options& options, const FlsmOptions& layout,
                             const std::string& path, FlsmShapeFile* file, FlsmShape* shape) {
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

// Opens the database of a store, given its shape, and creates the store object.
rocksdb::Status OpenTree(const rocksdb::Options& options, const FlsmOptions& layout, const std::string& path,
                         const std::shared_ptr<FlsmShapeFile>& file, FlsmShape shape,
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
        filters->SetLevelsInUse(LevelsToFilter(changed));
      }
      return file->Write(changed, number);
    };
    auto recorder = std::make_unique<FlsmRecorder>(options.env, layout.sample_every, shape.slots);
    store->reset(new FlsmStoreImpl(db.release(), std::move(recorder), std::move(listener), std::move(guard),
                                   std::move(shape), layout, file, on_change));
    if (filters != nullptr) {
      filters->SetLevelsInUse(LevelsToFilter((*store)->Shape()));
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
    status = CheckOptions(options);
  }
  if (status.ok()) {
    status = is_new ? CreateStore(options, layout, path, file.get(), &shape)
                    : PrepareStore(options, layout, path, file.get(), &shape);
  }
  if (!status.ok()) {
    return status;
  }
  return OpenTree(options, layout, path, file, std::move(shape), store);
}

rocksdb::Status FlsmStore::OpenForReadOnly(const rocksdb::Options& options, const std::string& path,
                                           std::unique_ptr<rocksdb::DB>* db) {
  FlsmShape shape;
  rocksdb::Status status = FlsmShapeFile(options.env, path).Read(&shape);
  rocksdb::Options tree = TreeOptions(options, shape);
  const auto* table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (status.ok() && table != nullptr && table->filter_policy == nullptr) {
    // Without a policy RocksDB does not read filters. Its rate does not matter here.
    std::shared_ptr<FlsmFilterPolicy> filters;
    status = SetFilters(FlsmFilters(), shape, &tree, &filters);
  }
  return status.ok() ? OpenDatabaseReadOnly(tree, path, db) : status;
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
