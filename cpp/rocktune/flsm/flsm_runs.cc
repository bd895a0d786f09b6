#include "rocktune/flsm/flsm_runs.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "rocktune/flsm/flsm_files.h"

namespace rocktune {
namespace {

// Returns the run at a physical level, with its tables.
FlsmRunFiles FilesOf(const rocksdb::ColumnFamilyMetaData& metadata, const FlsmShape& shape, int physical) {
  FlsmRunFiles run;
  for (const rocksdb::SstFileMetaData& file : metadata.levels[static_cast<std::size_t>(physical)].files) {
    run.files.push_back({file.name, file.size, file.smallestkey, file.largestkey});
  }
  for (const FlsmLevel& level : shape.levels) {
    for (const FlsmRun& each : level.runs) {
      run.sealed = run.sealed || (each.physical == physical && each.sealed);
    }
  }
  return run;
}

}  // namespace

rocksdb::ColumnFamilyMetaData Metadata(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(family, &metadata);
  return metadata;
}

std::vector<FlsmTable> CheapestTables(const FlsmTask& task, const FlsmShape& shape,
                                      const std::vector<FlsmTable>& all, rocksdb::DB* db,
                                      rocksdb::ColumnFamilyHandle* family) {
  const rocksdb::ColumnFamilyMetaData metadata = Metadata(db, family);
  std::vector<FlsmRunFiles> from;
  std::vector<FlsmRunFiles> into;
  for (const int physical : task.inputs) {
    const bool below = task.kind == FlsmTask::Kind::kJoinFiles
                           ? physical == task.output
                           : task.level < shape.deepest() && physical >= shape.FirstSlot(task.level + 1);
    (below ? into : from).push_back(FilesOf(metadata, shape, physical));
  }
  std::set<uint64_t> cheapest;
  for (const std::string& name : CheapestPush(from, into, db->GetOptions(family).comparator).names) {
    cheapest.insert(TableNumber(name));
  }
  std::vector<FlsmTable> tables;
  std::copy_if(all.begin(), all.end(), std::back_inserter(tables),
               [&cheapest](const FlsmTable& table) { return cheapest.contains(table.number); });
  return tables;
}

std::vector<FlsmTable> NextPieceTables(const FlsmTask& task, uint64_t max_bytes, rocksdb::DB* db,
                                       rocksdb::ColumnFamilyHandle* family) {
  const rocksdb::ColumnFamilyMetaData metadata = Metadata(db, family);
  std::vector<FlsmRunFiles> from;
  for (const int physical : task.inputs) {
    if (physical != task.output) {
      from.push_back(FilesOf(metadata, {}, physical));
    }
  }
  std::vector<FlsmTable> tables;
  for (const FlsmFile& file :
       NextPiece(from, FilesOf(metadata, {}, task.output), max_bytes, db->GetOptions(family).comparator)) {
    tables.push_back({TableNumber(file.name), file.bytes});
  }
  return tables;
}

void ReadRuns(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, FlsmShape* shape) {
  const rocksdb::ColumnFamilyMetaData metadata = Metadata(db, family);
  shape->level0_files = metadata.levels.front().files.size();
  shape->level0_bytes = metadata.levels.front().size;
  for (int number = 1; number <= shape->deepest(); ++number) {
    FlsmLevel& level = shape->level(number);
    std::vector<FlsmRun> runs;
    for (int physical = shape->FirstSlot(number); physical <= shape->LastSlot(number); ++physical) {
      const rocksdb::LevelMetaData& found = metadata.levels[static_cast<std::size_t>(physical)];
      if (found.files.empty()) {
        continue;
      }
      const auto known = std::find_if(level.runs.begin(), level.runs.end(),
                                      [physical](const FlsmRun& run) { return run.physical == physical; });
      runs.push_back({physical, found.size, known != level.runs.end() && known->sealed, RunUse::kIdle});
    }
    level.runs = std::move(runs);
  }
}

void AddUnknownRuns(const FlsmTables& tables, FlsmShape* shape) {
  for (int number = 1; number <= shape->deepest(); ++number) {
    std::vector<FlsmRun>& runs = shape->level(number).runs;
    for (int physical = shape->FirstSlot(number); physical <= shape->LastSlot(number); ++physical) {
      const auto after = std::find_if(runs.begin(), runs.end(),
                                      [physical](const FlsmRun& run) { return run.physical >= physical; });
      const bool is_known = after != runs.end() && after->physical == physical;
      if (const uint64_t bytes = tables.Bytes(physical); bytes > 0 && !is_known) {
        runs.insert(after, {physical, bytes, false, RunUse::kIdle});
      }
    }
  }
}

void ReadIdleRuns(const FlsmTables& tables, FlsmShape* shape) {
  for (FlsmLevel& level : shape->levels) {
    for (FlsmRun& run : level.runs) {
      run.bytes = run.use == RunUse::kIdle ? tables.Bytes(run.physical) : run.bytes;
    }
    std::erase_if(level.runs, [](const FlsmRun& run) { return run.use == RunUse::kIdle && run.bytes == 0; });
  }
}

}  // namespace rocktune
