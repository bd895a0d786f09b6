#pragma once

#include <rocksdb/convenience.h>
#include <rocksdb/options.h>

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "rocktune/runner/run_error.h"

namespace rocktune {

// RocksDB options as text, by RocksDB's own names: OPTIONS in docs/design/worker-protocol.md.
struct OptionMaps {
  using Map = std::map<std::string, std::string>;
  Map db;
  Map cf;
  Map table;  // the block-based table's
  // A compaction governor's settings, of which RocksDB knows nothing; empty for a store without one.
  Map governor = {};
  // How an FLSM store is laid out; empty for RocksDB's own tree.
  Map flsm = {};

  bool operator==(const OptionMaps&) const = default;
};

// Throws RunError (invalid) unless `json` is an object of objects of strings with no other names than these
// five.
OptionMaps OptionMapsFromJson(const nlohmann::json& json);
nlohmann::json ToJson(const OptionMaps& maps);

// How rocktune wants RocksDB to read and write options: unknown and unsupported ones are errors.
rocksdb::ConfigOptions StrictConfigOptions();

// What RocksDB makes of the options; those not named have its defaults. `block_cache` is read as in
// block_cache.h; each call makes a new cache. Throws RunError (invalid), naming the option, when RocksDB does
// not know one or would read a value as something else than it says.
rocksdb::Options OptionsFromMaps(const OptionMaps& maps);

// The same without comparing what RocksDB makes of a value with the value. Throws RunError (invalid) when
// RocksDB refuses an option.
rocksdb::Options ParsedOptions(const OptionMaps& maps);

// Every option that RocksDB can write down, and block_cache and rate_limiter_bytes_per_sec.
OptionMaps MapsFromOptions(const rocksdb::DBOptions& db, const rocksdb::ColumnFamilyOptions& cf);

// An option whose name RocksDB knows, and which has no effect on it.
class IgnoredOption : public RunError {
 public:
  using RunError::RunError;
};

// An option whose value RocksDB would read as another one.
class MisreadOption : public RunError {
 public:
  MisreadOption(const std::string& message, std::string read)
      : RunError(RunFailure::kInvalid, message), read_(std::move(read)) {}

  const std::string& read() const { return read_; }

 private:
  std::string read_;
};

// Throws RunError (invalid), naming the first option whose value is not among `read` as it was given:
// IgnoredOption if it is not there at all, MisreadOption otherwise.
// `section` is "db", "cf" or "table".
void CheckReadBack(const std::string& section, const OptionMaps::Map& given, const OptionMaps::Map& read);

}  // namespace rocktune
