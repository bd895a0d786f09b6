#pragma once

#include <rocksdb/convenience.h>
#include <rocksdb/options.h>

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/runner/run_error.h"

namespace rocktune {

// The options of a store as text, by RocksDB's names: OPTIONS in docs/design/worker-protocol.md.
struct OptionMaps {
  using Map = std::map<std::string, std::string>;
  Map db;     // DBOptions
  Map cf;     // ColumnFamilyOptions
  Map table;  // BlockBasedTableOptions
  // The options of one column family that differ from `cf` and `table`.
  struct Family {
    Map cf, table;
    bool operator==(const Family&) const = default;
  };
  std::map<std::string, Family> families = {};  // by name
  // Settings of the compaction governor; empty for a store without one.
  Map governor = {};
  // Layout of an FLSM store; empty for RocksDB's own tree.
  Map flsm = {};

  bool operator==(const OptionMaps&) const = default;
};

// Returns the maps in `json`, an object with the members above as objects of strings; absent ones are empty.
// A family's are "cf:NAME" and "table:NAME". Throws RunError (invalid) for any other JSON.
OptionMaps OptionMapsFromJson(const nlohmann::json& json);
// Returns the maps as OptionMapsFromJson reads them. `governor` and `flsm` are omitted if they are empty;
// `cf` and `table` are if there are families.
nlohmann::json ToJson(const OptionMaps& maps);

// Returns a configuration of RocksDB's parser under which unknown and unsupported options are errors.
rocksdb::ConfigOptions StrictConfigOptions();

// Returns RocksDB's options for `db`, `cf` and `table`. Options that are absent have RocksDB's defaults.
// `block_cache` is parsed as block_cache.h describes; each call makes a new cache. Throws RunError (invalid),
// naming the option, if RocksDB does not know an option or parses its value as a different one.
rocksdb::Options OptionsFromMaps(const OptionMaps& maps);

// Returns the descriptors of column families, in the order of `names`. A family has the options in `cf` and
// `table` that its own do not replace. Families without a `block_cache` of their own share that of `table`,
// if it has one. Throws RunError (invalid) as OptionsFromMaps does.
std::vector<rocksdb::ColumnFamilyDescriptor> FamiliesFromMaps(const OptionMaps& maps,
                                                              const std::vector<std::string>& names);

// Returns what OptionsFromMaps does, without comparing values with what RocksDB parsed. Throws RunError
// (invalid) if RocksDB refuses an option.
rocksdb::Options ParsedOptions(const OptionMaps& maps);

// Returns every option that RocksDB can serialize, and block_cache and rate_limiter_bytes_per_sec, which it
// cannot.
OptionMaps MapsFromOptions(const rocksdb::DBOptions& db, const rocksdb::ColumnFamilyOptions& cf);

// RocksDB knows the option's name, and the option has no effect on it.
class IgnoredOption : public RunError {
 public:
  using RunError::RunError;
};

// RocksDB parses the option's value as another one, read().
class MisreadOption : public RunError {
 public:
  MisreadOption(const std::string& message, std::string read)
      : RunError(RunFailure::kInvalid, message), read_(std::move(read)) {}

  const std::string& read() const { return read_; }

 private:
  std::string read_;
};

// Checks that each option in `given` is in `read` with an equal value (SameOptionValue). Throws RunError
// (invalid) that names the first one that is not: IgnoredOption if `read` lacks it, MisreadOption otherwise.
// `section` is "db", "cf" or "table".
void CheckReadBack(const std::string& section, const OptionMaps::Map& given, const OptionMaps::Map& read);

}  // namespace rocktune
