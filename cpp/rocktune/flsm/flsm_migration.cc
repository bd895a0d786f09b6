#include "rocktune/flsm_migration.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string>
#include <vector>

#include "rocktune/flsm/flsm_placement.h"
#include "rocktune/flsm/flsm_runs.h"
#include "rocktune/flsm/flsm_shape_file.h"
#include "rocktune/flsm/migration_families.h"
#include "rocktune/flsm/migration_target.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

using Family = rocksdb::ColumnFamilyHandle;

// Merges the tables of all given levels into one level.
rocksdb::Status Compact(rocksdb::DB* db, Family* family, const std::vector<rocksdb::LevelMetaData>& levels,
                        int output) {
  std::vector<std::string> names;
  for (const rocksdb::LevelMetaData& level : levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      names.push_back(file.name);
    }
  }
  rocksdb::CompactionOptions how;
  std::atomic<bool> canceled{false};
  EnableTrivialMoveAndCancel(&canceled, &how);
  how.compression = rocksdb::kDisableCompressionOption;  // means: as the column family says
  how.output_file_size_limit = db->GetOptions(family).target_file_size_base;
  return names.empty() ? rocksdb::Status::OK() : db->CompactFiles(how, family, names, output);
}

// Puts each run of a clone at its place in the tree, the oldest first: no run may be below an older one.
rocksdb::Status PlaceRuns(rocksdb::DB* db, Family* family, const FlsmShape& shape) {
  const rocksdb::ColumnFamilyMetaData metadata = Metadata(db, family);
  std::vector<RunPlace> places;
  rocksdb::Status status = PlacesOf(shape, metadata, &places);
  for (auto place = places.rbegin(); place != places.rend() && status.ok(); ++place) {
    if (place->from != place->to) {
      status = Compact(db, family, {metadata.levels[static_cast<std::size_t>(place->from)]}, place->to);
    }
  }
  return status;
}

// Merges all runs of a clone into one, at the deepest of `levels` levels.
rocksdb::Status MergeRuns(rocksdb::DB* db, Family* family, int levels) {
  const rocksdb::ColumnFamilyMetaData metadata = Metadata(db, family);
  std::vector<rocksdb::LevelMetaData> used;
  std::copy_if(metadata.levels.begin(), metadata.levels.end(), std::back_inserter(used),
               [](const rocksdb::LevelMetaData& level) { return !level.files.empty(); });
  if (used.empty() || (used.size() == 1 && used.front().level == levels - 1)) {
    return rocksdb::Status::OK();
  }
  const int deepest = std::max(levels - 1, used.back().level);
  rocksdb::Status status;
  if (used.size() > 1 || used.front().level < deepest) {
    status = Compact(db, family, used, deepest);
  }
  if (status.ok() && deepest > levels - 1) {
    // Moves the run without rewriting it: the levels above it are empty.
    rocksdb::CompactRangeOptions move;
    move.change_level = true;
    move.target_level = levels - 1;
    move.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kSkip;
    status = db->CompactRange(move, family, nullptr, nullptr);
  }
  return status;
}

// Proves that a stock RocksDB opens a database, and leaves an OPTIONS file with these options.
rocksdb::Status OpenOnce(const rocksdb::DBOptions& given, const std::string& path,
                         const std::vector<rocksdb::ColumnFamilyDescriptor>& families) {
  rocksdb::DBOptions options = given;
  options.create_if_missing = false;
  OpenedFamilies opened;
  rocksdb::Status status = OpenColumnFamilies(options, path, families, &opened.handles, &opened.db);
  return status.ok() ? opened.Close() : status;
}

std::vector<FlsmFamily> OnlyDefault(const rocksdb::Options& options, const FlsmOptions& layout) {
  return {{rocksdb::kDefaultColumnFamilyName, options, layout}};
}
std::vector<rocksdb::ColumnFamilyDescriptor> OnlyDefault(const rocksdb::Options& options) {
  return {{rocksdb::kDefaultColumnFamilyName, options}};
}

}  // namespace

rocksdb::Status MigrateToFlsm(const rocksdb::DBOptions& options, const std::vector<FlsmFamily>& given,
                              const std::string& source, const std::string& target) {
  std::vector<MovedFamily> families;
  rocksdb::Status status = PlanToFlsm(options, given, source, &families);
  MigrationTarget clone(options.env, "to FLSM", source, target);
  if (status.ok()) {
    status = clone.Clone();
  }
  OpenedFamilies opened;
  if (status.ok()) {
    status = OpenToCompact(options, target, families, &opened);
  }
  for (std::size_t family = 0; family < families.size() && status.ok(); ++family) {
    status = PlaceRuns(opened.db.get(), opened.handles[family], families[family].shape);
  }
  if (status.ok()) {
    status = opened.Close();
  }
  // Last: the target is no FLSM store before.
  if (status.ok()) {
    FlsmShapeFile file(options.env, target);
    for (const MovedFamily& family : families) {
      file.Add(family.name, family.shape);
    }
    status = file.Save();
  }
  return status.ok() ? clone.Finish() : status;
}

rocksdb::Status MigrateToFlsm(const rocksdb::Options& options, const FlsmOptions& layout,
                              const std::string& source, const std::string& target) {
  return MigrateToFlsm(options, OnlyDefault(options, layout), source, target);
}

rocksdb::Status CostOfMigrationToFlsm(const rocksdb::DBOptions& options, const std::vector<FlsmFamily>& given,
                                      const std::string& source, MigrationCost* cost) {
  std::vector<MovedFamily> families;
  rocksdb::Status status = PlanToFlsm(options, given, source, &families);
  std::vector<rocksdb::ColumnFamilyMetaData> metadata;
  if (status.ok()) {
    status = ReadMetadata(options, source, families, &metadata);
  }
  *cost = {};
  for (std::size_t family = 0; family < metadata.size() && status.ok(); ++family) {
    std::vector<RunPlace> places;
    status = PlacesOf(families[family].shape, metadata[family], &places);
    cost->bytes += metadata[family].size;
    for (const RunPlace& place : places) {
      // Tables of level 0 overlap and are merged; a whole deeper level can be moved.
      const bool is_rewritten = place.from != place.to && (place.from == 0 || !HasTrivialMove());
      cost->rewritten_bytes += is_rewritten ? place.bytes : 0;
    }
  }
  return status;
}

rocksdb::Status CostOfMigrationToFlsm(const rocksdb::Options& options, const FlsmOptions& layout,
                                      const std::string& source, MigrationCost* cost) {
  return CostOfMigrationToFlsm(options, OnlyDefault(options, layout), source, cost);
}

rocksdb::Status MigrateToStock(const rocksdb::DBOptions& options,
                               const std::vector<rocksdb::ColumnFamilyDescriptor>& given,
                               const std::string& source, const std::string& target) {
  std::vector<MovedFamily> families;
  rocksdb::Status status = PlanToStock(options, given, source, &families);
  MigrationTarget clone(options.env, "to stock", source, target);
  if (status.ok()) {
    status = clone.Clone();
  }
  OpenedFamilies opened;
  if (status.ok()) {
    status = OpenToCompact(options, target, families, &opened);
  }
  for (std::size_t family = 0; family < families.size() && status.ok(); ++family) {
    status = MergeRuns(opened.db.get(), opened.handles[family], families[family].options.num_levels);
  }
  if (status.ok()) {
    status = opened.Close();
  }
  if (status.ok()) {
    status = OpenOnce(options, target, given);
  }
  return status.ok() ? clone.Finish() : status;
}

rocksdb::Status MigrateToStock(const rocksdb::Options& options, const std::string& source,
                               const std::string& target) {
  return MigrateToStock(options, OnlyDefault(options), source, target);
}

rocksdb::Status CostOfMigrationToStock(const rocksdb::DBOptions& options,
                                       const std::vector<rocksdb::ColumnFamilyDescriptor>& given,
                                       const std::string& source, MigrationCost* cost) {
  std::vector<MovedFamily> families;
  rocksdb::Status status = PlanToStock(options, given, source, &families);
  std::vector<rocksdb::ColumnFamilyMetaData> metadata;
  if (status.ok()) {
    status = ReadMetadata(options, source, families, &metadata);
  }
  *cost = {};
  for (const rocksdb::ColumnFamilyMetaData& family : metadata) {
    const auto used = std::count_if(family.levels.begin(), family.levels.end(),
                                    [](const rocksdb::LevelMetaData& level) { return !level.files.empty(); });
    const bool is_one_run = used == 1 && family.levels.front().files.empty();
    cost->bytes += family.size;
    cost->rewritten_bytes += is_one_run ? 0 : family.size;
  }
  return status;
}

rocksdb::Status CostOfMigrationToStock(const rocksdb::Options& options, const std::string& source,
                                       MigrationCost* cost) {
  return CostOfMigrationToStock(options, OnlyDefault(options), source, cost);
}

}  // namespace rocktune
