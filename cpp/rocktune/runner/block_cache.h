#pragma once

#include <rocksdb/cache.h>

#include <memory>
#include <string>

namespace rocktune {

// Block caches as the text of option `block_cache`. RocksDB reads that option and never writes it.
//
// The text is a size ("64M"), or a list such as "capacity=64M;num_shard_bits=4", with or without braces. Both
// make an LRU cache, as in RocksDB's own parser. "kind=hyper_clock;capacity=64M" is rocktune's addition, for
// RocksDB's default cache of version 10.7 and newer; RocksDB itself refuses it.

// Returns a new cache, or nullptr for "null" and "nullptr", for which RocksDB makes its default cache.
// Throws RunError (invalid) if the text is no cache that this RocksDB can make.
std::shared_ptr<rocksdb::Cache> MakeBlockCache(const std::string& text);

// Returns the text of a cache: the capacity alone if all else is as RocksDB chooses for that capacity.
// `cache` must not be nullptr.
std::string BlockCacheText(const rocksdb::Cache& cache);

// True if both texts make the same cache. Throws RunError (invalid) as MakeBlockCache does.
bool SameBlockCache(const std::string& given, const std::string& read);

}  // namespace rocktune
