#include "rocktune/runner/options_examination.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "rocktune/runner/memory_env.h"
#include "rocktune/runner/run_error.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

using Part = OptionMaps::Map OptionMaps::*;

constexpr std::array<std::pair<const char*, Part>, 3> kParts = {
    {{"db", &OptionMaps::db}, {"cf", &OptionMaps::cf}, {"table", &OptionMaps::table}}};

// Takes the options out of `maps` that RocksDB refuses by themselves.
void TakeRefused(OptionMaps* maps, OptionsExamination* examination) {
  for (const auto& [section, part] : kParts) {
    std::erase_if(maps->*part, [&, section = section, part = part](const auto& option) {
      OptionMaps alone;
      (alone.*part).insert(option);
      try {
        ParsedOptions(alone);
        return false;
      } catch (const RunError& error) {
        examination->refused[section][option.first] = error.what();
        return true;
      }
    });
  }
}

// Takes the options out of `maps` that RocksDB ignores or reads as something else. They are read together,
// because some need each other: RocksDB drops partition_filters without index_type=kTwoLevelIndexSearch.
// Returns whether there were any.
bool TakeMisread(OptionMaps* maps, OptionsExamination* examination) {
  const rocksdb::Options options = ParsedOptions(*maps);
  const OptionMaps read = MapsFromOptions(options, options);
  bool taken = false;
  for (const auto& [section, part] : kParts) {
    std::erase_if(maps->*part, [&, section = section, part = part](const auto& option) {
      try {
        CheckReadBack(section, {option}, read.*part);
        return false;
      } catch (const IgnoredOption& error) {
        examination->ignored[section][option.first] = error.what();
      } catch (const MisreadOption& error) {
        examination->misread[section][option.first] = error.read();
      }
      taken = true;
      return true;
    });
  }
  return taken;
}

void Open(rocksdb::Options options, OptionsExamination* examination) {
  MemoryEnv env;
  MoveInto(&env, &options);
  options.cf_paths.clear();
  std::unique_ptr<rocksdb::DB> database;
  const rocksdb::Status status = OpenDatabase(options, "/store", &database);
  if (!status.ok()) {
    examination->open_error = status.ToString();
    std::replace(examination->open_error.begin(), examination->open_error.end(), '\n', ' ');
    return;
  }
  const rocksdb::Options opened = database->GetOptions();
  examination->opened = MapsFromOptions(opened, opened);
}

}  // namespace

OptionsExamination ExamineOptions(const OptionMaps& maps) {
  OptionsExamination examination;
  OptionMaps accepted{maps.db, maps.cf, maps.table};
  TakeRefused(&accepted, &examination);
  while (TakeMisread(&accepted, &examination)) {
  }
  const rocksdb::Options options = ParsedOptions(accepted);
  examination.parsed = MapsFromOptions(options, options);
  // What was read back no longer says which settings of a cache were chosen and which follow from its size.
  examination.parsed.table.erase("block_cache");
  if (const auto cache = accepted.table.find("block_cache"); cache != accepted.table.end()) {
    examination.parsed.table.insert(*cache);
  }
  Open(options, &examination);
  return examination;
}

}  // namespace rocktune
