#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/trace/stored_merge.h"

namespace rocksdb {
class DB;
}

namespace rocktune {

// Numbers the keys of a trace by their order: the rank of a key is the number of smaller keys of its column
// family. Ranks keep what scans need, and tell nothing of the keys. A RocksDB database of its own sorts the
// keys, so that memory is bounded (about 100 MB) whatever their number. Not thread-safe.
// Failure: throws std::runtime_error if the database fails, such as for a full disk.
class KeyRanks {
 public:
  // Creates a database in `directory`, which must not exist.
  explicit KeyRanks(const std::string& directory);
  // Removes the directory.
  ~KeyRanks();
  KeyRanks(const KeyRanks&) = delete;
  KeyRanks& operator=(const KeyRanks&) = delete;

  // Adds a key. REQUIRES: Number has not been called.
  void Add(uint32_t family_id, const std::string& key);
  // Adds a bound, which is no key. REQUIRES: as for Add.
  void AddBound(uint32_t family_id, const std::string& bound);
  // Numbers all keys and returns the number of keys of each family, by its id. With `stored`, keys are
  // numbered among those of the database, which the numbers of keys then include. Families with bounds alone
  // have 0 keys.
  std::map<uint32_t, uint64_t> Number(StoredMerge* stored);
  // Sets `*rank` to the rank of a key and returns true, or returns false if it was not added.
  // REQUIRES: Number has been called.
  bool RankOf(uint32_t family_id, const std::string& key, uint64_t* rank);
  // Sets `*rank` to the number of keys below a bound and returns true, or returns false if it was not added.
  // REQUIRES: Number has been called.
  bool RankOfBound(uint32_t family_id, const std::string& bound, uint64_t* rank);

 private:
  struct CacheSlot {
    uint64_t hash = 0;
    uint64_t rank = 0;
  };
  // What an entry of the database is; its first byte.
  enum class Entry : char { kKey, kBound };
  // Sets entry_ to the database's key for a key, and returns its slot and sets `*cached` to true if the slot
  // holds the key.
  CacheSlot* Find(Entry kind, uint32_t family_id, const std::string& key, bool* cached);
  void Add(Entry kind, uint32_t family_id, const std::string& key);
  bool RankOf(Entry kind, uint32_t family_id, const std::string& key, uint64_t* rank);

  const std::string directory_;
  std::unique_ptr<rocksdb::DB> database_;
  std::vector<CacheSlot> cache_;
  std::string entry_;
  std::string value_;
};

}  // namespace rocktune
