#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "rocktune/util/progress.h"

namespace rocktune {

// The tables of one column family, summed up from their properties. Sizes are in bytes.
struct FamilyTables {
  uint64_t id = 0;  // RocksDB's number of the family
  uint64_t tables = 0;
  uint64_t file_bytes = 0;
  uint64_t entries = 0;  // with deletions and merge operands
  uint64_t deletions = 0;
  uint64_t merge_operands = 0;
  uint64_t range_deletions = 0;
  uint64_t raw_key_bytes = 0;  // with the 8 bytes that RocksDB adds to each key
  uint64_t raw_value_bytes = 0;
  uint64_t data_bytes = 0;  // data blocks, compressed
  std::set<std::string> compressions;
  std::set<std::string> comparators;
};

// The tables of a store.
struct StoreTables {
  std::map<std::string, FamilyTables> families;  // by the family's name
  uint64_t unread_tables = 0;                    // that vanished while they were read are not among them
  std::string unread_example;                    // why the first of them could not be read
};

// Reads the properties of all tables in the directories. Opens no database: no lock is taken, no write-ahead
// log is replayed, and nothing is written, so the database may be open elsewhere and may have classes that
// only its application has. Throws RunError (invalid) if a directory cannot be listed. `progress` gets the
// phase "tables" and numbers of tables.
StoreTables ReadTables(const std::vector<std::string>& directories, const Progress& progress);

// Returns the worker's reply.
nlohmann::json ToJson(const StoreTables& tables);

}  // namespace rocktune
