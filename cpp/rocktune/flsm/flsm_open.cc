#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <set>
#include <utility>

#include "rocktune/flsm/flsm_listener.h"
#include "rocktune/flsm/flsm_plan.h"
#include "rocktune/flsm/flsm_runs.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/flsm/flsm_shape_file.h"
#include "rocktune/flsm/flsm_store_impl.h"
#include "rocktune/util/rocksdb_compat.h"

// FlsmStore::Open, LoadStockOptions and ReadShape.

namespace rocktune {
namespace {

using Families = std::vector<FlsmFamily>;
using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;

// RocksDB opens it by itself, with persist_stats_to_disk.
constexpr const char* kStatisticsFamily = "___rocksdb_stats_history___";

// Returns InvalidArgument if a family is given twice, or the default one not at all.
rocksdb::Status CheckNames(const Families& families) {
  std::set<std::string> names;
  for (const FlsmFamily& family : families) {
    if (!names.insert(family.name).second) {
      return rocksdb::Status::InvalidArgument(family.name, "is among the column families twice");
    }
  }
  return names.contains(rocksdb::kDefaultColumnFamilyName)
             ? rocksdb::Status::OK()
             : rocksdb::Status::InvalidArgument("the column family 'default' must be opened, too");
}

// Finds the families that a store has, and returns InvalidArgument if the caller leaves one out.
rocksdb::Status FindFamilies(const rocksdb::DBOptions& options, const std::string& path,
                             const Families& opened, std::set<std::string>* found) {
  std::vector<std::string> names;
  rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, path, &names);
  for (const std::string& name : names) {
    const bool is_opened = std::any_of(opened.begin(), opened.end(),
                                       [&name](const FlsmFamily& family) { return family.name == name; });
    if (status.ok() && !is_opened && name != kStatisticsFamily) {
      return rocksdb::Status::InvalidArgument(
          path, "has the column family '" + name + "'; all families must be opened");
    }
    found->insert(name);
  }
  return status;
}

// Checks that a new store can be created, and creates its directory.
rocksdb::Status CreateDirectory(const rocksdb::DBOptions& options, const std::string& path,
                                const FlsmShapeFile& file) {
  if (file.HasDatabase()) {
    return rocksdb::Status::InvalidArgument(path,
                                            "is a RocksDB database, but no FLSM store; choose another path");
  }
  if (!options.create_if_missing) {
    return rocksdb::Status::InvalidArgument(path, "does not exist; set create_if_missing to create a store");
  }
  return options.env->CreateDirIfMissing(path);
}

// Plans a family, which is new unless the database has it.
rocksdb::Status PlanOpening(const rocksdb::DBOptions& options, const FlsmFamily& family,
                            const FlsmShapes& shapes, const std::set<std::string>& found, FlsmPlan* plan) {
  const auto shape = shapes.find(family.name);
  if (found.contains(family.name)) {
    if (shape == shapes.end()) {
      return rocksdb::Status::InvalidArgument(
          family.name, "is a column family without a shape, which was not made by an FLSM store; drop it");
    }
    return PlanFamily(family.name, family.options, family.layout, shape->second, plan);
  }
  if (family.name != rocksdb::kDefaultColumnFamilyName && !options.create_missing_column_families) {
    return rocksdb::Status::InvalidArgument(
        family.name, "is no column family of the store; set create_missing_column_families to create it");
  }
  return PlanNewFamily(family.name, family.options, family.layout, plan);
}

// Plans all families. Nothing has been written when it fails.
rocksdb::Status PlanAll(const rocksdb::DBOptions& options, const std::string& path, const Families& families,
                        const FlsmShapeFile& file, std::vector<FlsmPlan>* plans) {
  rocksdb::Status status = CheckNames(families);
  if (status.ok()) {
    status = CheckDatabaseOptions(options);
  }
  FlsmShapes shapes;
  std::set<std::string> found;
  if (status.ok()) {
    status = file.Read(&shapes);
    const bool is_new = status.IsNotFound();
    status = is_new ? rocksdb::Status::OK() : status;
    if (status.ok() && !is_new) {
      status = FindFamilies(options, path, families, &found);
    }
  }
  for (const FlsmFamily& family : families) {
    if (status.ok()) {
      status = PlanOpening(options, family, shapes, found, &plans->emplace_back());
    }
  }
  if (status.ok() && found.empty()) {
    status = CreateDirectory(options, path, file);
  }
  return status;
}

// Makes the file hold the planned shapes. RocksDB creates new families after it: a family without a shape
// would be refused after a crash in between.
rocksdb::Status PrepareFile(FlsmShapeFile* file, std::vector<FlsmPlan>* plans) {
  for (FlsmPlan& plan : *plans) {
    plan.shape_number = file->Add(plan.name, plan.shape);
  }
  rocksdb::Status status = file->Adopt();
  return status.ok() ? file->Save() : status;
}

// Opens the families of a store for reading, without its compactions. `handles` are the caller's.
rocksdb::Status OpenReadOnly(const rocksdb::DBOptions& options, const std::string& path,
                             const Families& families, Handles* handles, std::unique_ptr<rocksdb::DB>* db) {
  FlsmShapes shapes;
  rocksdb::Status status = FlsmShapeFile(options.env, path).Read(&shapes);
  std::vector<rocksdb::ColumnFamilyDescriptor> trees;
  for (const FlsmFamily& family : families) {
    if (status.ok() && !shapes.contains(family.name)) {
      status = rocksdb::Status::InvalidArgument(family.name, "is no column family of the store");
    }
    const FlsmShape& shape = shapes[family.name];
    rocksdb::ColumnFamilyOptions& tree =
        trees.emplace_back(family.name, TreeOptions(family.options, shape)).options;
    const auto* table = tree.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (status.ok() && table != nullptr && table->filter_policy == nullptr) {
      // Without a policy RocksDB does not read filters. Its rate does not matter here.
      std::shared_ptr<FlsmFilterPolicy> filters;
      status = SetFilters(FlsmFilters(), shape, &tree, &filters);
    }
  }
  return status.ok() ? OpenColumnFamiliesReadOnly(options, path, trees, handles, db) : status;
}

void DestroyHandles(rocksdb::DB* db, const Handles& handles) {
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

}  // namespace

rocksdb::Status FlsmStore::Open(const rocksdb::Options& options, const FlsmOptions& layout,
                                const std::string& path, std::unique_ptr<FlsmStore>* store) {
  Handles handles;
  return Open(options, path, {{rocksdb::kDefaultColumnFamilyName, options, layout}}, &handles, store);
}

rocksdb::Status FlsmStore::Open(const rocksdb::DBOptions& options, const std::string& path,
                                const std::vector<FlsmFamily>& families,
                                std::vector<rocksdb::ColumnFamilyHandle*>* handles,
                                std::unique_ptr<FlsmStore>* store) {
  handles->clear();
  auto file = std::make_shared<FlsmShapeFile>(options.env, path);
  std::vector<FlsmPlan> plans;
  rocksdb::Status status = PlanAll(options, path, families, *file, &plans);
  if (status.ok()) {
    status = PrepareFile(file.get(), &plans);
  }
  if (!status.ok()) {
    return status;
  }
  auto listener = std::make_shared<FlsmListener>();
  auto guard = std::make_shared<ManifestGuard>();
  auto commits = std::make_shared<FlsmCommits>(guard);
  rocksdb::DBOptions listened = options;
  listened.listeners.insert(listened.listeners.end(), {listener, guard, commits});
  std::vector<rocksdb::ColumnFamilyDescriptor> trees;
  std::transform(plans.begin(), plans.end(), std::back_inserter(trees), [](const FlsmPlan& plan) {
    return rocksdb::ColumnFamilyDescriptor(plan.name, plan.options);
  });
  std::unique_ptr<rocksdb::DB> db;
  status = OpenColumnFamilies(listened, path, trees, handles, &db);
  if (status.ok()) {
    auto opened = std::make_unique<FlsmStoreImpl>(db.release(), std::move(listener), std::move(commits),
                                                  std::move(file));
    for (std::size_t family = 0; family < plans.size(); ++family) {
      opened->AddFamily(plans[family], (*handles)[family]);
    }
    *store = std::move(opened);
  }
  return status;
}

rocksdb::Status FlsmStore::OpenForReadOnly(const rocksdb::Options& options, const std::string& path,
                                           std::unique_ptr<rocksdb::DB>* db) {
  Handles handles;
  rocksdb::Status status =
      OpenReadOnly(options, path, {{rocksdb::kDefaultColumnFamilyName, options, {}}}, &handles, db);
  DestroyHandles(db->get(), handles);  // of the default family, which RocksDB keeps another handle of
  return status;
}

rocksdb::Status FlsmStore::OpenForReadOnly(const rocksdb::DBOptions& options, const std::string& path,
                                           const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                                           std::vector<rocksdb::ColumnFamilyHandle*>* handles,
                                           std::unique_ptr<rocksdb::DB>* db) {
  handles->clear();
  Families read;
  std::transform(families.begin(), families.end(), std::back_inserter(read), [](const auto& family) {
    return FlsmFamily{family.name, family.options, {}};
  });
  return OpenReadOnly(options, path, read, handles, db);
}

rocksdb::Status LoadStockOptions(const std::string& path, rocksdb::Options* options) {
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  rocksdb::Status status = LoadStockOptions(path, &db, &families);
  if (status.ok()) {
    *options = rocksdb::Options(db, families.front().options);
  }
  return status;
}

rocksdb::Status LoadStockOptions(const std::string& path, rocksdb::DBOptions* options,
                                 std::vector<rocksdb::ColumnFamilyDescriptor>* families) {
  rocksdb::Status status = rocksdb::LoadLatestOptions(rocksdb::ConfigOptions(), path, options, families);
  for (rocksdb::ColumnFamilyDescriptor& family : *families) {
    family.options.compaction_style = rocksdb::kCompactionStyleLevel;
  }
  return status;
}

rocksdb::Status ReadShape(const std::string& path, FlsmShape* shape) {
  return ReadShape(path, rocksdb::kDefaultColumnFamilyName, shape);
}

rocksdb::Status ReadShape(const std::string& path, const std::string& family, FlsmShape* shape) {
  FlsmShapes shapes;
  rocksdb::Status status = FlsmShapeFile(rocksdb::Env::Default(), path).Read(&shapes);
  if (!status.ok()) {
    return status;
  }
  Families families = {{family, {}, {}}};
  if (family != rocksdb::kDefaultColumnFamilyName) {
    families.push_back({rocksdb::kDefaultColumnFamilyName, {}, {}});
  }
  std::unique_ptr<rocksdb::DB> db;
  Handles handles;
  status = OpenReadOnly(rocksdb::DBOptions(), path, families, &handles, &db);
  if (status.ok()) {
    *shape = shapes[family];
    ReadRuns(db.get(), handles.front(), shape);
    DestroyHandles(db.get(), handles);
  }
  return status;
}

}  // namespace rocktune
