#pragma once

#include <rocksdb/cache.h>

#include <memory>
#include <string>

namespace rocktune {

// Conversions between block caches and the text of the option `block_cache`, which RocksDB parses but never
// serializes.
//
// The text is a size ("64M"), or a list such as "capacity=64M;num_shard_bits=4", with or without braces. Both
// make an LRU cache, as in RocksDB's own parser. "kind=hyper_clock;capacity=64M" is an addition of rocktune's
// that RocksDB refuses; it makes the cache that RocksDB 10.7 and newer use by default.

// Returns a new cache, or nullptr for "null" and "nullptr", for which RocksDB makes its default cache.
// Throws RunError (invalid) if the text is malformed or the linked RocksDB cannot make the cache.
std::shared_ptr<rocksdb::Cache> MakeBlockCache(const std::string& text);

// Returns the text of a cache. It is only the capacity if all other settings are those that RocksDB chooses
// for this capacity.
std::string BlockCacheText(const rocksdb::Cache& cache);

// Returns true if `read`, the text of an open store's cache, describes the cache that `given` makes. It
// always does if `given` is "null". Throws RunError (invalid) as MakeBlockCache does.
bool SameBlockCache(const std::string& given, const std::string& read);

}  // namespace rocktune
