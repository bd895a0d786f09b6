#pragma once

#include <rocksdb/metadata.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace rocktune {

// A table by the number in its name.
struct FlsmTable {
  uint64_t number = 0;
  uint64_t bytes = 0;
};

// The number in a table's name or path; 0 if it has none.
uint64_t TableNumber(const std::string& name);
// What CompactFiles takes for a name.
std::string TableName(uint64_t number);

// Which tables lie at which physical level, kept by what is told of each flush and each compaction. RocksDB
// tells it too, but holds its mutex meanwhile: with 1,600 tables for a millisecond, in which the lookup waits
// that comes after a flush or a merge. Not thread-safe; no I/O.
class FlsmTables {
 public:
  // Takes over what RocksDB says.
  void Read(const rocksdb::ColumnFamilyMetaData& metadata);
  // Adds what a flush has made. Flushes end in the order of their numbers, and may be told of later; so one
  // that is known, or not newer than what has left level 0, changes nothing.
  void AddFlushed(const FlsmTable& table);
  // A compaction of the tables `used` has made others at a physical level.
  void Replace(const std::vector<FlsmTable>& used, int output, const std::vector<FlsmTable>& made);

  // A compaction has begun that may use the tables, and has ended: that their files are deleted is no news
  // meanwhile.
  void Use(const std::vector<FlsmTable>& tables);
  void Release(const std::vector<FlsmTable>& tables);
  // A table's file was deleted. False if no such table is known, as with all that compactions have left
  // behind, unless they are still ending.
  bool NoteDeleted(uint64_t number);
  // Whether files were deleted by others of tables that are known, so that RocksDB is to be asked.
  bool LacksFiles() const;
  // The same, or will be when a compaction in work releases them.
  bool MayLackFiles() const { return !deleted_.empty(); }

  // The tables of physical levels.
  std::vector<FlsmTable> At(const std::vector<int>& physical) const;
  uint64_t Count(int physical) const;
  uint64_t Bytes(int physical) const;

 private:
  std::map<int, std::map<uint64_t, uint64_t>> levels_;  // bytes by physical level and number
  std::set<uint64_t> used_;
  std::set<uint64_t> deleted_;  // that are in levels_
  uint64_t newest_gone_ = 0;    // of what has left level 0
};

}  // namespace rocktune
