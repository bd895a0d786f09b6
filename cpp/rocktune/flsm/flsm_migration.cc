#include "rocktune/flsm_migration.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/flsm/flsm_placement.h"
#include "rocktune/flsm/flsm_runs.h"
#include "rocktune/flsm/flsm_shape_file.h"
#include "rocktune/flsm/migration_target.h"
#include "rocktune/util/rocksdb_compat.h"
#include "rocktune/util/silent_logger.h"

namespace rocktune {
namespace {

// Returns options under which RocksDB compacts only what CompactFiles and CompactRange ask for. Leveled,
// since with style None CompactRange does nothing.
rocksdb::Options QuietOptions(const rocksdb::Options& given, int levels) {
  rocksdb::Options options = given;
  options.create_if_missing = false;
  options.compaction_style = rocksdb::kCompactionStyleLevel;
  options.disable_auto_compactions = true;
  options.level_compaction_dynamic_level_bytes = false;
  options.compression_per_level.clear();
  options.num_levels = levels;
  options.avoid_flush_during_recovery = false;  // entries of the WAL become tables, too
  return options;
}

// Returns the error with which a migration refuses its source, or OK. Reads only.
rocksdb::Status CheckSource(const rocksdb::Options& options, const std::string& source, bool is_flsm,
                            FlsmShape* shape) {
  // An OPTIONS file does not have them, so that they can only be asked of the caller.
  if (!options.wal_dir.empty() || !options.db_paths.empty() || !options.cf_paths.empty()) {
    return rocksdb::Status::NotSupported(
        "wal_dir, db_paths, cf_paths", "a migration needs tables and WAL in one directory; leave them empty");
  }
  FlsmShapeFile file(options.env, source);
  if (!file.HasDatabase()) {
    return rocksdb::Status::InvalidArgument(source, "is no RocksDB database");
  }
  rocksdb::Status status = file.Read(shape);
  if (is_flsm == status.IsNotFound()) {
    return rocksdb::Status::InvalidArgument(source,
                                            is_flsm ? "is no FLSM store" : "is an FLSM store already");
  }
  std::vector<std::string> names;
  status = rocksdb::DB::ListColumnFamilies(options, source, &names);
  if (status.ok() && names.size() > 1) {
    return rocksdb::Status::NotSupported(
        source, "has further column families; a migration takes the default one alone");
  }
  return status;
}

rocksdb::Status ReadMetadata(const rocksdb::Options& options, const std::string& path, int levels,
                             rocksdb::ColumnFamilyMetaData* metadata) {
  rocksdb::Options quiet = QuietOptions(options, levels);
  quiet.info_log = std::make_shared<SilentLogger>();
  std::unique_ptr<rocksdb::DB> db;
  rocksdb::Status status = OpenDatabaseReadOnly(quiet, path, &db);
  if (status.ok()) {
    db->GetColumnFamilyMetaData(metadata);
  }
  return status;
}

// Merges the tables of all given levels into one level.
rocksdb::Status Compact(rocksdb::DB* db, const std::vector<rocksdb::LevelMetaData>& levels, int output) {
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
  how.output_file_size_limit = db->GetOptions().target_file_size_base;
  return names.empty() ? rocksdb::Status::OK() : db->CompactFiles(how, names, output);
}

// Puts each run of a clone at its place in the tree, the oldest first: no run may be below an older one.
rocksdb::Status PlaceRuns(rocksdb::DB* db, const FlsmShape& shape) {
  const rocksdb::ColumnFamilyMetaData metadata = Metadata(db);
  std::vector<RunPlace> places;
  rocksdb::Status status = PlacesOf(shape, metadata, &places);
  for (auto place = places.rbegin(); place != places.rend() && status.ok(); ++place) {
    if (place->from != place->to) {
      status = Compact(db, {metadata.levels[static_cast<std::size_t>(place->from)]}, place->to);
    }
  }
  return status;
}

// Merges all runs of a clone into one, at the deepest of `levels` levels.
rocksdb::Status MergeRuns(rocksdb::DB* db, int levels) {
  const rocksdb::ColumnFamilyMetaData metadata = Metadata(db);
  std::vector<rocksdb::LevelMetaData> used;
  std::copy_if(metadata.levels.begin(), metadata.levels.end(), std::back_inserter(used),
               [](const rocksdb::LevelMetaData& level) { return !level.files.empty(); });
  if (used.empty() || (used.size() == 1 && used.front().level == levels - 1)) {
    return rocksdb::Status::OK();
  }
  const int deepest = std::max(levels - 1, used.back().level);
  rocksdb::Status status;
  if (used.size() > 1 || used.front().level < deepest) {
    status = Compact(db, used, deepest);
  }
  if (status.ok() && deepest > levels - 1) {
    // Moves the run without rewriting it: the levels above it are empty.
    rocksdb::CompactRangeOptions move;
    move.change_level = true;
    move.target_level = levels - 1;
    move.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kSkip;
    status = db->CompactRange(move, nullptr, nullptr);
  }
  return status;
}

rocksdb::Status CheckStockOptions(const rocksdb::Options& options) {
  if (options.num_levels < 2 || (options.compaction_style != rocksdb::kCompactionStyleLevel &&
                                 options.compaction_style != rocksdb::kCompactionStyleUniversal)) {
    return rocksdb::Status::InvalidArgument(
        "num_levels, compaction_style",
        "a stock database needs leveled or universal compaction and at least 2 levels");
  }
  return rocksdb::Status::OK();
}

// Checks a layout and a source for MigrateToFlsm, and stores the shape of the empty tree.
rocksdb::Status CheckToFlsm(const rocksdb::Options& options, const FlsmOptions& layout,
                            const std::string& source, FlsmShape* shape) {
  rocksdb::Status status = CheckLayout(layout);
  if (status.ok()) {
    status = CheckSource(options, source, false, shape);
  }
  *shape =
      status.ok() ? EmptyShape(layout, options.write_buffer_size, options.target_file_size_base) : *shape;
  return status;
}

}  // namespace

rocksdb::Status MigrateToFlsm(const rocksdb::Options& options, const FlsmOptions& layout,
                              const std::string& source, const std::string& target) {
  FlsmShape shape;
  rocksdb::Status status = CheckToFlsm(options, layout, source, &shape);
  MigrationTarget clone(options.env, "to FLSM", source, target);
  if (status.ok()) {
    status = clone.Clone();
  }
  std::unique_ptr<rocksdb::DB> db;
  if (status.ok()) {
    status = OpenDatabase(QuietOptions(options, shape.PhysicalLevels()), target, &db);
  }
  if (status.ok()) {
    status = PlaceRuns(db.get(), shape);
  }
  if (status.ok()) {
    status = db->Close();
  }
  db.reset();
  // Last: the target is no FLSM store before.
  if (status.ok()) {
    status = FlsmShapeFile(options.env, target).Write(shape, 0);
  }
  return status.ok() ? clone.Finish() : status;
}

rocksdb::Status CostOfMigrationToFlsm(const rocksdb::Options& options, const FlsmOptions& layout,
                                      const std::string& source, MigrationCost* cost) {
  FlsmShape shape;
  rocksdb::Status status = CheckToFlsm(options, layout, source, &shape);
  rocksdb::ColumnFamilyMetaData metadata;
  if (status.ok()) {
    status = ReadMetadata(options, source, shape.PhysicalLevels(), &metadata);
  }
  std::vector<RunPlace> places;
  if (status.ok()) {
    status = PlacesOf(shape, metadata, &places);
  }
  *cost = {metadata.size, 0};
  for (const RunPlace& place : places) {
    // Tables of level 0 overlap and are merged; a whole deeper level can be moved.
    const bool is_rewritten = place.from != place.to && (place.from == 0 || !HasTrivialMove());
    cost->rewritten_bytes += is_rewritten ? place.bytes : 0;
  }
  return status;
}

rocksdb::Status MigrateToStock(const rocksdb::Options& options, const std::string& source,
                               const std::string& target) {
  rocksdb::Status status = CheckStockOptions(options);
  FlsmShape shape;
  if (status.ok()) {
    status = CheckSource(options, source, true, &shape);
  }
  MigrationTarget clone(options.env, "to stock", source, target);
  if (status.ok()) {
    status = clone.Clone();
  }
  std::unique_ptr<rocksdb::DB> db;
  if (status.ok()) {
    const int levels = std::max(shape.PhysicalLevels(), options.num_levels);
    status = OpenDatabase(QuietOptions(options, levels), target, &db);
  }
  if (status.ok()) {
    status = MergeRuns(db.get(), options.num_levels);
  }
  if (status.ok()) {
    status = db->Close();
  }
  db.reset();
  // Proves that a stock RocksDB opens it, and leaves an OPTIONS file with these options.
  rocksdb::Options stock = options;
  stock.create_if_missing = false;
  if (status.ok()) {
    status = OpenDatabase(stock, target, &db);
  }
  if (status.ok()) {
    status = db->Close();
  }
  db.reset();
  return status.ok() ? clone.Finish() : status;
}

rocksdb::Status CostOfMigrationToStock(const rocksdb::Options& options, const std::string& source,
                                       MigrationCost* cost) {
  rocksdb::Status status = CheckStockOptions(options);
  FlsmShape shape;
  if (status.ok()) {
    status = CheckSource(options, source, true, &shape);
  }
  rocksdb::ColumnFamilyMetaData metadata;
  if (status.ok()) {
    status = ReadMetadata(options, source, std::max(shape.PhysicalLevels(), options.num_levels), &metadata);
  }
  const auto used = std::count_if(metadata.levels.begin(), metadata.levels.end(),
                                  [](const rocksdb::LevelMetaData& level) { return !level.files.empty(); });
  const bool is_one_run = used == 1 && metadata.levels.front().files.empty();
  *cost = {metadata.size, is_one_run ? 0 : metadata.size};
  return status;
}

}  // namespace rocktune
