#include "rocktune/runner/rocksdb_options.h"

#include <rocksdb/rate_limiter.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "rocktune/runner/block_cache.h"
#include "rocktune/runner/run_error.h"
#include "rocktune/util/option_value.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr std::string_view kFamilyCf = "cf:";
constexpr std::string_view kFamilyTable = "table:";
constexpr const char* kBlockCache = "block_cache";
constexpr const char* kRateLimiter = "rate_limiter_bytes_per_sec";
constexpr const char* kAutoTuned = "rate_limiter_auto_tuned";  // rocktune's own name
constexpr const char* kTableFactory = "table_factory";
constexpr const char* kBlockBasedTable = "BlockBasedTable";
constexpr const char* kWayOut = "; if only your application has it, measure that with engine 'command'";

// Options whose value names an object. RocksDB serializes them with the object's own name ("fixed:8" becomes
// "rocksdb.FixedPrefix.8"), so they cannot be compared with the given text. It refuses names that it does not
// know.
const std::set<std::string>& ObjectOptions() {
  static const std::set<std::string> names = {"comparator",
                                              "compaction_filter",
                                              "compaction_filter_factory",
                                              "env",
                                              "file_checksum_gen_factory",
                                              "flush_block_policy_factory",
                                              "memtable_factory",
                                              "memtable_insert_with_hint_prefix_extractor",
                                              "merge_operator",
                                              "prefix_extractor",
                                              "sst_partitioner_factory",
                                              "statistics",
                                              kTableFactory,
                                              "table_properties_collectors",
                                              "wal_filter"};
  return names;
}

// Returns true for options whose object may be defined by the application, and without which its stores
// cannot be read.
bool IsOfTheApplication(const std::string& option) {
  return option == "comparator" || option == "merge_operator";
}

template <typename Error = RunError>
Error InvalidOption(const std::string& section, const std::string& name, const std::string& problem) {
  return Error(RunFailure::kInvalid, "option '" + name + "' (" + section + "): " + problem);
}

MisreadOption Misread(const std::string& section, const std::string& name, const std::string& given,
                      const std::string& read) {
  return {"option '" + name + "' (" + section + "): RocksDB reads '" + given + "' as '" + read +
              "'; give a value it can hold",
          read};
}

// Returns the text in `read` of an option, or of a field of one ("compaction_options_universal.size_ratio").
std::optional<std::string> TextOf(const OptionMaps::Map& read, const std::string& name) {
  if (const auto found = read.find(name); found != read.end()) {
    return found->second;
  }
  const std::size_t dot = name.find('.');
  const auto whole = read.find(name.substr(0, dot));
  std::unordered_map<std::string, std::string> fields;
  if (dot == std::string::npos || whole == read.end() || !rocksdb::StringToMap(whole->second, &fields).ok()) {
    return std::nullopt;
  }
  const auto field = fields.find(name.substr(dot + 1));
  return field == fields.end() ? std::nullopt : std::optional(field->second);
}

bool ReadAsGiven(const std::string& name, const std::string& given, const std::string& read) {
  if (name == kBlockCache) {
    return SameBlockCache(given, read);
  }
  return ObjectOptions().contains(name) ? given == read || read != "nullptr" : SameOptionValue(given, read);
}

OptionMaps::Map ParseSerialized(const std::string& serialized) {
  std::unordered_map<std::string, std::string> options;
  const rocksdb::Status status = rocksdb::StringToMap(serialized, &options);
  if (!status.ok()) {
    throw RunError(RunFailure::kCrashed, "RocksDB cannot read its own options: " + status.ToString());
  }
  return OptionMaps::Map(options.begin(), options.end());
}

template <typename RocksDbOptions>
using Parser = rocksdb::Status (*)(const rocksdb::ConfigOptions&, const RocksDbOptions&,
                                   const std::unordered_map<std::string, std::string>&, RocksDbOptions*);

template <typename RocksDbOptions>
void SetAll(const std::string& section, const OptionMaps::Map& given,
            std::type_identity_t<Parser<RocksDbOptions>> parse, RocksDbOptions* options) {
  const rocksdb::ConfigOptions config = StrictConfigOptions();
  RocksDbOptions changed;
  if (parse(config, *options, {given.begin(), given.end()}, &changed).ok()) {
    *options = std::move(changed);
    return;
  }
  // Not every message of RocksDB names the option, so each option is parsed alone to find the wrong one.
  for (const auto& [name, value] : given) {
    const rocksdb::Status status = parse(config, *options, {{name, value}}, &changed);
    if (!status.ok()) {
      throw InvalidOption(section, name,
                          "RocksDB " + RocksDbVersion() + " refuses '" + value + "': " + status.ToString() +
                              (IsOfTheApplication(name) ? kWayOut : ""));
    }
  }
  throw RunError(RunFailure::kInvalid, "RocksDB " + RocksDbVersion() + " refuses the options (" + section +
                                           ") together, though not one by one");
}

std::shared_ptr<rocksdb::TableFactory> MakeTableFactory(OptionMaps::Map table) {
  rocksdb::BlockBasedTableOptions options;
  if (const auto cache = table.extract(kBlockCache)) {
    options.block_cache = MakeBlockCache(cache.mapped());
  }
  SetAll("table", table, rocksdb::GetBlockBasedTableOptionsFromMap, &options);
  return std::shared_ptr<rocksdb::TableFactory>(rocksdb::NewBlockBasedTableFactory(options));
}

OptionMaps::Map TableMap(const rocksdb::ColumnFamilyOptions& cf) {
  const auto* options = cf.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (options == nullptr) {
    return {};
  }
  std::string serialized;
  if (!cf.table_factory->GetOptionString(StrictConfigOptions(), &serialized).ok()) {
    throw RunError(RunFailure::kCrashed, "RocksDB cannot write its table options down");
  }
  OptionMaps::Map table = ParseSerialized(serialized);
  table[kBlockCache] = options->block_cache ? BlockCacheText(*options->block_cache) : "0";
  return table;
}

// Replaces the rate limiter by an auto-tuned one of the same rate, if `value` is "true". RocksDB has no
// option for it. It varies its limit between a twentieth of the rate and the rate.
void TuneRateLimiter(const std::string& value, rocksdb::DBOptions* db) {
  if (value != "true" && value != "false") {
    throw InvalidOption("db", kAutoTuned, "'" + value + "' is neither true nor false");
  }
  if (db->rate_limiter == nullptr) {
    throw InvalidOption("db", kAutoTuned, "needs " + std::string(kRateLimiter));
  }
  if (value == "true") {
    constexpr int64_t kRefillMicros = 100'000;
    constexpr int32_t kFairness = 10;
    db->rate_limiter.reset(rocksdb::NewGenericRateLimiter(db->rate_limiter->GetBytesPerSecond(),
                                                          kRefillMicros, kFairness,
                                                          rocksdb::RateLimiter::Mode::kWritesOnly, true));
  }
}

bool IsTrue(const OptionMaps::Map& map, const std::string& name) {
  const auto found = map.find(name);
  return found != map.end() && found->second == "true";
}

OptionMaps::Map MapFromJson(const nlohmann::json& json, const std::string& section) {
  OptionMaps::Map map;
  if (!json.is_object()) {
    throw RunError(RunFailure::kInvalid, "options '" + section + "' are no object");
  }
  for (const auto& [name, value] : json.items()) {
    if (!value.is_string()) {
      throw InvalidOption(section, name, "its value must be a string, not " + value.dump());
    }
    map[name] = value.get<std::string>();
  }
  return map;
}

}  // namespace

OptionMaps OptionMapsFromJson(const nlohmann::json& json) {
  OptionMaps maps;
  if (!json.is_object()) {
    throw RunError(RunFailure::kInvalid, "options are no object");
  }
  for (const auto& [section, options] : json.items()) {
    if (section == "db") {
      maps.db = MapFromJson(options, section);
    } else if (section == "cf") {
      maps.cf = MapFromJson(options, section);
    } else if (section == "table") {
      maps.table = MapFromJson(options, section);
    } else if (section == "governor") {
      maps.governor = MapFromJson(options, section);
    } else if (section == "flsm") {
      maps.flsm = MapFromJson(options, section);
    } else if (section.starts_with(kFamilyCf)) {
      maps.families[section.substr(kFamilyCf.size())].cf = MapFromJson(options, section);
    } else if (section.starts_with(kFamilyTable)) {
      maps.families[section.substr(kFamilyTable.size())].table = MapFromJson(options, section);
    } else {
      throw RunError(RunFailure::kInvalid,
                     "options have no part '" + section +
                         "', but db, cf, table, cf:FAMILY, table:FAMILY, governor and flsm");
    }
  }
  return maps;
}

nlohmann::json ToJson(const OptionMaps& maps) {
  nlohmann::json json = {{"db", maps.db}};
  if (maps.families.empty() || !maps.cf.empty() || !maps.table.empty()) {
    json["cf"] = maps.cf;
    json["table"] = maps.table;
  }
  for (const auto& [name, family] : maps.families) {
    json[std::string(kFamilyCf) + name] = family.cf;
    json[std::string(kFamilyTable) + name] = family.table;
  }
  if (!maps.governor.empty()) {
    json["governor"] = maps.governor;
  }
  if (!maps.flsm.empty()) {
    json["flsm"] = maps.flsm;
  }
  return json;
}

rocksdb::ConfigOptions StrictConfigOptions() {
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = false;
  // By default RocksDB would replace a comparator that it does not know by the bytewise one.
  config.ignore_unsupported_options = false;
  config.input_strings_escaped = false;
  return config;
}

void CheckReadBack(const std::string& section, const OptionMaps::Map& given, const OptionMaps::Map& read) {
  for (const auto& [given_name, value] : given) {
    const std::string name = given_name == "memtable" ? "memtable_factory" : given_name;
    const std::optional<std::string> found = TextOf(read, name);
    if (!found) {
      if (value.empty()) {
        continue;  // an empty list or path, which RocksDB does not serialize
      }
      throw InvalidOption<IgnoredOption>(section, given_name,
                                         "RocksDB " + RocksDbVersion() + " knows the name but ignores it");
    }
    if (!ReadAsGiven(name, value, *found)) {
      throw Misread(section, given_name, value, *found);
    }
  }
}

rocksdb::Options ParsedOptions(const OptionMaps& maps) {
  rocksdb::DBOptions db;
  rocksdb::ColumnFamilyOptions cf;
  SetAll("db", maps.db, rocksdb::GetDBOptionsFromMap, &db);
  OptionMaps::Map cf_map = maps.cf;
  if (const auto table_factory = cf_map.extract(kTableFactory);
      table_factory && table_factory.mapped() != kBlockBasedTable) {
    throw InvalidOption("cf", kTableFactory, "only BlockBasedTable is supported");
  }
  SetAll("cf", cf_map, rocksdb::GetColumnFamilyOptionsFromMap, &cf);
  cf.table_factory = MakeTableFactory(maps.table);
  return rocksdb::Options(db, cf);
}

rocksdb::Options OptionsFromMaps(const OptionMaps& maps) {
  OptionMaps rocksdb_maps{maps.db, maps.cf, maps.table, {}};
  const auto auto_tuned = rocksdb_maps.db.extract(kAutoTuned);
  rocksdb::Options options = ParsedOptions(rocksdb_maps);
  const OptionMaps read = MapsFromOptions(options, options);
  CheckReadBack("db", rocksdb_maps.db, read.db);
  CheckReadBack("cf", maps.cf, read.cf);
  CheckReadBack("table", maps.table, read.table);
  if (auto_tuned) {
    TuneRateLimiter(auto_tuned.mapped(), &options);
  }
  return options;
}

std::vector<rocksdb::ColumnFamilyDescriptor> FamiliesFromMaps(const OptionMaps& maps,
                                                              const std::vector<std::string>& names) {
  std::shared_ptr<rocksdb::Cache> shared_cache;
  if (const auto cache = maps.table.find(kBlockCache); cache != maps.table.end()) {
    shared_cache = MakeBlockCache(cache->second);
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names) {
    OptionMaps merged{{}, maps.cf, maps.table, {}};
    bool own_cache = false;
    if (const auto family = maps.families.find(name); family != maps.families.end()) {
      own_cache = family->second.table.contains(kBlockCache);
      for (const auto& [option, value] : family->second.cf) {
        merged.cf[option] = value;
      }
      for (const auto& [option, value] : family->second.table) {
        merged.table[option] = value;
      }
    }
    const bool takes_shared_cache =
        shared_cache != nullptr && !own_cache && !IsTrue(merged.table, "no_block_cache");
    if (!own_cache) {
      merged.table.erase(kBlockCache);
    }
    rocksdb::ColumnFamilyOptions options = OptionsFromMaps(merged);
    if (takes_shared_cache) {
      rocksdb::BlockBasedTableOptions table =
          *options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
      table.block_cache = shared_cache;
      options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    }
    descriptors.emplace_back(name, options);
  }
  return descriptors;
}

OptionMaps MapsFromOptions(const rocksdb::DBOptions& db, const rocksdb::ColumnFamilyOptions& cf) {
  OptionMaps maps;
  std::string serialized;
  if (!rocksdb::GetStringFromDBOptions(StrictConfigOptions(), db, &serialized).ok()) {
    throw RunError(RunFailure::kCrashed, "RocksDB cannot write its db options down");
  }
  maps.db = ParseSerialized(serialized);
  maps.db.erase("listeners");  // rocktune's own, which cannot be given as an option
  if (db.rate_limiter != nullptr) {
    maps.db[kRateLimiter] = std::to_string(db.rate_limiter->GetBytesPerSecond());
  }
  if (!rocksdb::GetStringFromColumnFamilyOptions(StrictConfigOptions(), cf, &serialized).ok()) {
    throw RunError(RunFailure::kCrashed, "RocksDB cannot write its column family options down");
  }
  maps.cf = ParseSerialized(serialized);
  maps.table = TableMap(cf);
  return maps;
}

}  // namespace rocktune
