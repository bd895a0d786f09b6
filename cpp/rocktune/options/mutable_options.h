#pragma once

#include <rocksdb/options.h>

#include <set>
#include <string>

namespace rocktune {

// The options that an open database takes, by name, as the linked RocksDB says. The options that a watcher
// changes through an object (kBlockCacheOption and its neighbours) are not among them.
struct MutableOptions {
  std::set<std::string> db;     // by SetDBOptions
  std::set<std::string> cf;     // by SetOptions
  std::set<std::string> table;  // by SetOptions, inside of block_based_table_factory
};

// Options that are changed through an object that the database was opened with.
inline constexpr const char* kBlockCacheOption = "block_cache";                  // table
inline constexpr const char* kRateLimiterOption = "rate_limiter_bytes_per_sec";  // db
inline constexpr const char* kWriteBuffersOption = "db_write_buffer_size";       // db

// Returns the options that can be changed while a database is open. Leaves out those whose value is an
// object, such as prefix_extractor: their text does not give the object back. Throws RunError if RocksDB
// cannot write its options down.
MutableOptions MutableOptionsOfRocksDb();

}  // namespace rocktune
