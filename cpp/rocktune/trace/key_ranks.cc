#include "rocktune/trace/key_ranks.h"

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string_view>

#include "rocktune/util/rocksdb_compat.h"
#include "rocktune/workload/random.h"

namespace rocktune {
namespace {

constexpr std::size_t kCacheSlots = 1 << 20;
constexpr std::size_t kFamilyBytes = 4;
constexpr std::size_t kHeadBytes = 1 + kFamilyBytes;  // the kind of the entry, and the family

void Check(const rocksdb::Status& status) {
  if (!status.ok()) {
    throw std::runtime_error("sorting the trace's keys failed: " + status.ToString());
  }
}

rocksdb::Options BoundedOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.write_buffer_size = 16 << 20;
  options.max_write_buffer_number = 2;
  options.max_open_files = 128;
  options.compression = rocksdb::kNoCompression;
  options.info_log_level = rocksdb::WARN_LEVEL;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(32 << 20);
  table.cache_index_and_filter_blocks = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::WriteOptions WithoutWal() {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  return options;
}

uint32_t FamilyOf(const rocksdb::Slice& entry) {
  uint32_t family = 0;
  for (std::size_t i = 0; i < kFamilyBytes; ++i) {
    family = family << 8 | static_cast<unsigned char>(entry[1 + i]);
  }
  return family;
}

// Returns the part of an entry that families and keys are sorted by.
rocksdb::Slice Sorted(rocksdb::Slice entry) {
  entry.remove_prefix(1);
  return entry;
}

}  // namespace

KeyRanks::KeyRanks(const std::string& directory) : directory_(directory), cache_(kCacheSlots) {
  Check(OpenDatabase(BoundedOptions(), directory_, &database_));
}

KeyRanks::~KeyRanks() {
  database_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

KeyRanks::CacheSlot* KeyRanks::Find(Entry kind, uint32_t family_id, const std::string& key, bool* cached) {
  entry_.assign(1, static_cast<char>(kind));
  for (std::size_t i = 0; i < kFamilyBytes; ++i) {  // big endian, so that families are sorted
    entry_.push_back(static_cast<char>(family_id >> (8 * (kFamilyBytes - 1 - i))));
  }
  entry_ += key;
  // Two keys with equal 64-bit hashes would be taken for one; that is not to be expected below 10^9 keys.
  const uint64_t hash = Mix64(std::hash<std::string_view>()(entry_)) | 1;  // 0 is an empty slot
  CacheSlot* const slot = &cache_[hash >> 44];
  *cached = slot->hash == hash;
  slot->hash = hash;
  return slot;
}

void KeyRanks::Add(uint32_t family_id, const std::string& key) { Add(Entry::kKey, family_id, key); }

void KeyRanks::AddBound(uint32_t family_id, const std::string& bound) {
  Add(Entry::kBound, family_id, bound);
}

void KeyRanks::Add(Entry kind, uint32_t family_id, const std::string& key) {
  bool cached = false;
  Find(kind, family_id, key, &cached);
  if (!cached) {
    Check(database_->Put(WithoutWal(), entry_, rocksdb::Slice()));
  }
}

std::map<uint32_t, uint64_t> KeyRanks::Number(StoredMerge* stored) {
  std::map<uint32_t, uint64_t> families;
  const std::unique_ptr<rocksdb::Iterator> keys(database_->NewIterator(rocksdb::ReadOptions()));
  const std::unique_ptr<rocksdb::Iterator> bounds(database_->NewIterator(rocksdb::ReadOptions()));
  const std::string first_bound(1, static_cast<char>(Entry::kBound));
  keys->SeekToFirst();
  bounds->Seek(first_bound);
  for (;;) {
    const bool has_key = keys->Valid() && keys->key()[0] == static_cast<char>(Entry::kKey);
    if (!has_key && !bounds->Valid()) {
      break;
    }
    // A bound comes before the equal key, which is not below it.
    const bool is_key =
        has_key && (!bounds->Valid() || Sorted(keys->key()).compare(Sorted(bounds->key())) < 0);
    rocksdb::Iterator* const entries = is_key ? keys.get() : bounds.get();
    const uint32_t family = FamilyOf(entries->key());
    rocksdb::Slice key = entries->key();
    key.remove_prefix(kHeadBytes);
    uint64_t& next = families[family];
    uint64_t rank = next;
    if (stored != nullptr) {
      rank = is_key ? stored->Rank(family, key) : stored->RankOfBound(family, key);
    }
    next = rank + is_key;
    const rocksdb::Slice value(reinterpret_cast<const char*>(&rank), sizeof(rank));
    Check(database_->Put(WithoutWal(), entries->key(), value));
    entries->Next();
  }
  Check(keys->status());
  Check(bounds->status());
  if (stored != nullptr && !families.empty()) {
    stored->Finish();
    for (const auto& [id, family] : stored->families()) {
      families[id] = family.keys;
    }
  }
  cache_.assign(kCacheSlots, CacheSlot());
  return families;
}

bool KeyRanks::RankOf(uint32_t family_id, const std::string& key, uint64_t* rank) {
  return RankOf(Entry::kKey, family_id, key, rank);
}

bool KeyRanks::RankOfBound(uint32_t family_id, const std::string& bound, uint64_t* rank) {
  return RankOf(Entry::kBound, family_id, bound, rank);
}

bool KeyRanks::RankOf(Entry kind, uint32_t family_id, const std::string& key, uint64_t* rank) {
  bool cached = false;
  CacheSlot* const slot = Find(kind, family_id, key, &cached);
  if (!cached) {
    const rocksdb::Status status = database_->Get(rocksdb::ReadOptions(), entry_, &value_);
    if (status.IsNotFound() || (status.ok() && value_.size() != sizeof(uint64_t))) {
      slot->hash = 0;
      return false;
    }
    Check(status);
    std::memcpy(&slot->rank, value_.data(), sizeof(uint64_t));
  }
  *rank = slot->rank;
  return true;
}

}  // namespace rocktune
