#include "rocktune/options/mutable_options.h"

#include <rocksdb/convenience.h>
#include <rocksdb/table.h>

#include <memory>
#include <unordered_map>

#include "rocktune/runner/rocksdb_options.h"
#include "rocktune/runner/run_error.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// Returns the names in serialized options, but for those whose value is an object.
std::set<std::string> NamesIn(const rocksdb::Status& status, const std::string& serialized) {
  std::unordered_map<std::string, std::string> options;
  if (!status.ok() || !rocksdb::StringToMap(serialized, &options).ok()) {
    throw RunError(RunFailure::kCrashed, "RocksDB cannot write down which options can be changed");
  }
  static const std::set<std::string> objects = {"table_factory", "prefix_extractor", "compression_manager",
                                                "flush_block_policy_factory"};
  std::set<std::string> names;
  for (const auto& [name, value] : options) {
    if (!objects.contains(name)) {
      names.insert(name);
    }
  }
  return names;
}

// Returns the table's options that SetOptions changes. Before 9.8 it changes them in place, under their
// readers. RocksDB does not mark the others: it makes a new table factory from all of them. no_block_cache
// would drop the cache that is in use.
std::set<std::string> TableNames() {
  if (!ReplacesTableFactory()) {
    return {};
  }
  std::string serialized;
  const std::unique_ptr<rocksdb::TableFactory> factory(rocksdb::NewBlockBasedTableFactory());
  const rocksdb::Status status = factory->GetOptionString(StrictConfigOptions(), &serialized);
  std::set<std::string> names = NamesIn(status, serialized);
  names.erase("no_block_cache");
  return names;
}

}  // namespace

MutableOptions MutableOptionsOfRocksDb() {
  rocksdb::ConfigOptions config = StrictConfigOptions();
  config.mutable_options_only = true;
  std::string db;
  std::string cf;
  const rocksdb::Status db_status = rocksdb::GetStringFromDBOptions(config, rocksdb::DBOptions(), &db);
  const rocksdb::Status cf_status =
      rocksdb::GetStringFromColumnFamilyOptions(config, rocksdb::ColumnFamilyOptions(), &cf);
  return {NamesIn(db_status, db), NamesIn(cf_status, cf), TableNames()};
}

}  // namespace rocktune
