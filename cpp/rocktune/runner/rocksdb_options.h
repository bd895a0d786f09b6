#pragma once

#include <rocksdb/convenience.h>
#include <rocksdb/options.h>

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

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

// Every option that RocksDB can write down, and block_cache and rate_limiter_bytes_per_sec.
OptionMaps MapsFromOptions(const rocksdb::DBOptions& db, const rocksdb::ColumnFamilyOptions& cf);

// Throws RunError (invalid), naming the first option whose value is not among `read` as it was given.
// `section` is "db", "cf" or "table".
void CheckReadBack(const std::string& section, const OptionMaps::Map& given, const OptionMaps::Map& read);

}  // namespace rocktune
