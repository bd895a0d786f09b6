#include "rocktune/flsm/migration_families.h"

#include <rocksdb/env.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/flsm/flsm_runs.h"
#include "rocktune/flsm/flsm_shape_file.h"
#include "rocktune/util/rocksdb_compat.h"
#include "rocktune/util/silent_logger.h"

namespace rocktune {
namespace {

// Returns options under which RocksDB compacts only what CompactFiles and CompactRange ask for. Leveled,
// since with style None CompactRange does nothing.
rocksdb::ColumnFamilyOptions QuietOptions(const MovedFamily& family) {
  rocksdb::ColumnFamilyOptions options = family.options;
  options.compaction_style = rocksdb::kCompactionStyleLevel;
  options.disable_auto_compactions = true;
  options.level_compaction_dynamic_level_bytes = false;
  options.compression_per_level.clear();
  options.num_levels = family.levels;
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> QuietFamilies(const std::vector<MovedFamily>& families) {
  std::vector<rocksdb::ColumnFamilyDescriptor> quiet;
  std::transform(families.begin(), families.end(), std::back_inserter(quiet), [](const MovedFamily& family) {
    return rocksdb::ColumnFamilyDescriptor(family.name, QuietOptions(family));
  });
  return quiet;
}

// Returns InvalidArgument unless `families` are those of the source.
rocksdb::Status CheckFamilies(const rocksdb::DBOptions& options, const std::vector<MovedFamily>& families,
                              const std::string& source) {
  std::vector<std::string> names;
  rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, source, &names);
  if (!status.ok()) {
    return status;
  }
  std::set<std::string> missing(names.begin(), names.end());
  for (const MovedFamily& family : families) {
    if (missing.erase(family.name) == 0) {
      return rocksdb::Status::InvalidArgument(source, "has no column family '" + family.name + "'");
    }
  }
  return missing.empty()
             ? status
             : rocksdb::Status::InvalidArgument(
                   source, "has the column family '" + *missing.begin() + "'; migrate all families at once");
}

// Returns the error with which a migration refuses its source, or OK. Stores the shapes of an FLSM store.
// Reads only.
rocksdb::Status CheckSource(const rocksdb::DBOptions& options, const std::vector<MovedFamily>& families,
                            const std::string& source, bool is_flsm, FlsmShapes* shapes) {
  // An OPTIONS file does not have them, so that they can only be asked of the caller.
  const bool has_paths = std::any_of(families.begin(), families.end(), [](const MovedFamily& family) {
    return !family.options.cf_paths.empty();
  });
  if (!options.wal_dir.empty() || !options.db_paths.empty() || has_paths) {
    return rocksdb::Status::NotSupported(
        "wal_dir, db_paths, cf_paths", "a migration needs tables and WAL in one directory; leave them empty");
  }
  FlsmShapeFile file(options.env, source);
  if (!file.HasDatabase()) {
    return rocksdb::Status::InvalidArgument(source, "is no RocksDB database");
  }
  rocksdb::Status status = file.Read(shapes);
  if (is_flsm == status.IsNotFound()) {
    return rocksdb::Status::InvalidArgument(source,
                                            is_flsm ? "is no FLSM store" : "is an FLSM store already");
  }
  return is_flsm && !status.ok() ? status : CheckFamilies(options, families, source);
}

void Release(OpenedFamilies* opened) {
  for (rocksdb::ColumnFamilyHandle* handle : opened->handles) {
    opened->db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  opened->handles.clear();
}

}  // namespace

OpenedFamilies::~OpenedFamilies() { Release(this); }

rocksdb::Status OpenedFamilies::Close() {
  Release(this);
  rocksdb::Status status = db->Close();
  db.reset();
  return status;
}

rocksdb::Status OpenToCompact(const rocksdb::DBOptions& given, const std::string& path,
                              const std::vector<MovedFamily>& families, OpenedFamilies* opened) {
  rocksdb::DBOptions options = given;
  options.create_if_missing = false;
  options.create_missing_column_families = false;
  options.avoid_flush_during_recovery = false;  // entries of the WAL become tables, too
  return OpenColumnFamilies(options, path, QuietFamilies(families), &opened->handles, &opened->db);
}

rocksdb::Status ReadMetadata(const rocksdb::DBOptions& options, const std::string& path,
                             const std::vector<MovedFamily>& families,
                             std::vector<rocksdb::ColumnFamilyMetaData>* metadata) {
  rocksdb::DBOptions quiet = options;
  quiet.info_log = std::make_shared<SilentLogger>();
  OpenedFamilies opened;
  rocksdb::Status status =
      OpenColumnFamiliesReadOnly(quiet, path, QuietFamilies(families), &opened.handles, &opened.db);
  for (rocksdb::ColumnFamilyHandle* handle : opened.handles) {
    metadata->push_back(Metadata(opened.db.get(), handle));
  }
  return status;
}

// Plans the way back: checks options and source, and stores the families with their shapes.
rocksdb::Status PlanToStock(const rocksdb::DBOptions& options,
                            const std::vector<rocksdb::ColumnFamilyDescriptor>& given,
                            const std::string& source, std::vector<MovedFamily>* families) {
  for (const rocksdb::ColumnFamilyDescriptor& family : given) {
    const rocksdb::CompactionStyle style = family.options.compaction_style;
    if (family.options.num_levels < 2 ||
        (style != rocksdb::kCompactionStyleLevel && style != rocksdb::kCompactionStyleUniversal)) {
      return rocksdb::Status::InvalidArgument(
          "num_levels, compaction_style",
          "a stock database needs leveled or universal compaction and at least 2 levels");
    }
    families->push_back({family.name, family.options, {}, 0});
  }
  FlsmShapes shapes;
  rocksdb::Status status = CheckSource(options, *families, source, true, &shapes);
  for (MovedFamily& family : *families) {
    family.shape = shapes[family.name];
    family.levels = std::max(family.shape.PhysicalLevels(), family.options.num_levels);
  }
  return status;
}

// Plans the way into a store: checks layouts and source, and stores the families with their empty shapes.
rocksdb::Status PlanToFlsm(const rocksdb::DBOptions& options, const std::vector<FlsmFamily>& given,
                           const std::string& source, std::vector<MovedFamily>* families) {
  for (const FlsmFamily& family : given) {
    if (rocksdb::Status status = CheckLayout(family.layout); !status.ok()) {
      return status;
    }
    const FlsmShape shape =
        EmptyShape(family.layout, family.options.write_buffer_size, family.options.target_file_size_base);
    families->push_back({family.name, family.options, shape, shape.PhysicalLevels()});
  }
  FlsmShapes shapes;
  return CheckSource(options, *families, source, false, &shapes);
}

}  // namespace rocktune
