#include "rocktune/runner/block_cache.h"

#include <rocksdb/convenience.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <unordered_map>

#include "rocktune/runner/rocksdb_options.h"
#include "rocktune/runner/run_error.h"
#include "rocktune/util/option_value.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr const char* kKind = "kind";
constexpr const char* kHyperClock = "hyper_clock";
constexpr const char* kCapacity = "capacity";
constexpr const char* kShardBits = "num_shard_bits";

using Fields = std::unordered_map<std::string, std::string>;

RunError Invalid(const std::string& problem) {
  return RunError(RunFailure::kInvalid, "option 'block_cache' (table): " + problem);
}

RunError Misread(const std::string& name, const std::string& given, const std::string& read) {
  return Invalid("RocksDB reads " + name + "='" + given + "' as '" + read + "'");
}

std::size_t ParseCapacity(const std::string& text) {
  const std::optional<uint64_t> bytes = ParseOptionBytes(text);
  if (!bytes) {
    throw Invalid("'" + text + "' is not a number of bytes; use one such as 64M");
  }
  return *bytes;
}

// Returns the settings in a cache's printable options, by name. They are the only way to read them back.
std::map<std::string, std::string> PrintedSettings(const rocksdb::Cache& cache) {
  static const std::regex line(R"(\s*(\w+)\s*:\s*(\S+)\s*\n)");
  const std::string text = cache.GetPrintableOptions();
  std::map<std::string, std::string> fields;
  for (std::sregex_iterator match(text.begin(), text.end(), line), end; match != end; ++match) {
    fields[(*match)[1]] = (*match)[2];
  }
  fields.erase("memory_allocator");  // does not affect what the cache holds
  if (const auto strict = fields.find("strict_capacity_limit"); strict != fields.end()) {
    strict->second = strict->second == "0" ? "false" : "true";
  }
  return fields;
}

std::shared_ptr<rocksdb::Cache> MakeHyperClock(Fields fields) {
  fields.erase(kKind);
  const auto capacity = fields.extract(kCapacity);
  const auto shard_bits = fields.extract(kShardBits);
  if (!fields.empty() || !capacity) {
    throw Invalid("a hyper_clock cache has a capacity and optionally num_shard_bits; remove other settings");
  }
  int bits = -1;
  if (shard_bits) {
    bits = static_cast<int>(ParseCapacity(shard_bits.mapped()));
  }
  std::shared_ptr<rocksdb::Cache> cache = NewHyperClockCache(ParseCapacity(capacity.mapped()), bits);
  if (cache == nullptr) {
    throw Invalid("RocksDB " + RocksDbVersion() +
                  " has no hyper_clock cache that sizes itself; use an LRU cache or RocksDB 9 or newer");
  }
  return cache;
}

std::shared_ptr<rocksdb::Cache> MakeLru(const std::string& text, const Fields& fields) {
  if (!fields.contains(kCapacity)) {
    throw Invalid("'" + text + "' has no capacity; add one such as capacity=64M");
  }
  ParseCapacity(fields.at(kCapacity));
  std::shared_ptr<rocksdb::Cache> cache;
  const rocksdb::Status status = rocksdb::Cache::CreateFromString(StrictConfigOptions(), text, &cache);
  if (!status.ok() || cache == nullptr) {
    throw Invalid("RocksDB " + RocksDbVersion() + " refuses '" + text + "': " + status.ToString());
  }
  // RocksDB's parser reads "0x4" as 0, so the settings are read back and compared.
  const std::map<std::string, std::string> printed = PrintedSettings(*cache);
  for (const auto& [name, value] : fields) {
    const auto read = printed.find(name);
    const bool automatic = name == kShardBits && value == "-1";
    if (read != printed.end() && !automatic && !SameOptionValue(value, read->second)) {
      throw Misread(name, value, read->second);
    }
  }
  return cache;
}

// Returns a cache of this kind and capacity whose other settings are RocksDB's defaults.
std::shared_ptr<rocksdb::Cache> DefaultCache(bool hyper_clock, std::size_t capacity) {
  return hyper_clock ? NewHyperClockCache(capacity, -1) : rocksdb::NewLRUCache(capacity);
}

}  // namespace

std::shared_ptr<rocksdb::Cache> MakeBlockCache(const std::string& text) {
  if (text == "null" || text == "nullptr") {
    return nullptr;
  }
  if (text.find("://") != std::string::npos) {
    throw Invalid("'" + text + "' is a cache that only its own application has; use its size instead");
  }
  if (text.find('=') == std::string::npos) {
    return rocksdb::NewLRUCache(ParseCapacity(text));
  }
  Fields fields;
  if (!rocksdb::StringToMap(text, &fields).ok()) {
    throw Invalid("'" + text + "' is malformed; use a size or a list such as capacity=64M;num_shard_bits=4");
  }
  const auto kind = fields.find(kKind);
  if (kind == fields.end()) {
    return MakeLru(text, fields);
  }
  if (kind->second != kHyperClock) {
    throw Invalid("unknown kind of cache '" + kind->second + "'; use hyper_clock, or leave kind out for LRU");
  }
  return MakeHyperClock(fields);
}

std::string BlockCacheText(const rocksdb::Cache& cache) {
  const bool hyper_clock = std::string(cache.Name()).find("HyperClockCache") != std::string::npos;
  std::string capacity = std::to_string(cache.GetCapacity());
  std::string text = hyper_clock ? std::string(kKind) + "=" + kHyperClock + ";" : "";
  std::string others;
  const std::shared_ptr<rocksdb::Cache> default_cache = DefaultCache(hyper_clock, cache.GetCapacity());
  if (default_cache != nullptr) {
    const std::map<std::string, std::string> defaults = PrintedSettings(*default_cache);
    for (const auto& [name, value] : PrintedSettings(cache)) {
      const auto found = defaults.find(name);
      if (name != kCapacity && (found == defaults.end() || found->second != value)) {
        others += ";";
        others += name;
        others += "=";
        others += value;
      }
    }
  }
  if (text.empty() && others.empty()) {
    return capacity;
  }
  return text + kCapacity + "=" + capacity + others;
}

bool SameBlockCache(const std::string& given, const std::string& read) {
  const std::shared_ptr<rocksdb::Cache> first = MakeBlockCache(given);
  const std::shared_ptr<rocksdb::Cache> second = MakeBlockCache(read);
  // For "null" RocksDB makes a cache of its own choice, whatever that is.
  return first == nullptr || (second != nullptr && BlockCacheText(*first) == BlockCacheText(*second));
}

}  // namespace rocktune
