#pragma once

#include <rocksdb/convenience.h>
#include <rocksdb/options.h>

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "rocktune/runner/run_error.h"

namespace rocktune {

// The options of a store as text, by RocksDB's names: OPTIONS in docs/design/worker-protocol.md.
struct OptionMaps {
  using Map = std::map<std::string, std::string>;
  Map db;     // DBOptions
  Map cf;     // ColumnFamilyOptions
  Map table;  // BlockBasedTableOptions
  // Settings of the compaction governor; empty for a store without one.
  Map governor = {};
  // Layout of an FLSM store; empty for RocksDB's own tree.
  Map flsm = {};

  bool operator==(const OptionMaps&) const = default;
};

// Returns the maps in `json`, an object with the five members above as objects of strings; absent ones are
// empty. Throws RunError (invalid) for any other JSON.
OptionMaps OptionMapsFromJson(const nlohmann::json& json);
// Returns the maps as OptionMapsFromJson reads them. `governor` and `flsm` are omitted if they are empty.
nlohmann::json ToJson(const OptionMaps& maps);

// Returns a configuration of RocksDB's parser under which unknown and unsupported options are errors.
rocksdb::ConfigOptions StrictConfigOptions();

// Returns RocksDB's options for `db`, `cf` and `table`. Options that are absent have RocksDB's defaults.
// `block_cache` is parsed as block_cache.h describes; each call makes a new cache. Throws RunError (invalid),
// naming the option, if RocksDB does not know an option or parses its value as a different one.
rocksdb::Options OptionsFromMaps(const OptionMaps& maps);

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
