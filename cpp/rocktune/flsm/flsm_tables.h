#pragma once

#include <rocksdb/metadata.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace rocktune {

// A table, identified by the number in its name.
struct FlsmTable {
  uint64_t number = 0;
  uint64_t bytes = 0;
};

// Returns the number in a table's name or path; 0 if it has none.
uint64_t TableNumber(const std::string& name);
// Returns a name for the table that CompactFiles accepts.
std::string TableName(uint64_t number);

// The tables of each physical level, kept up to date from the events of flushes and compactions. RocksDB's
// own metadata would cost too much: listing 1,600 tables holds RocksDB's mutex for a millisecond, in which
// the next lookup waits. Does no I/O. Not thread-safe.
class FlsmTables {
 public:
  // Replaces all tables by those in RocksDB's metadata.
  void Read(const rocksdb::ColumnFamilyMetaData& metadata);
  // Adds a flushed table to level 0. Events of flushes may arrive late. So a table that is known changes
  // nothing, nor does one older than a table that has left level 0; flushes complete in the order of numbers.
  void AddFlushed(const FlsmTable& table);
  // Replaces the tables `used` by the tables `made` at physical level `output`, after a compaction.
  void Replace(const std::vector<FlsmTable>& used, int output, const std::vector<FlsmTable>& made);

  // Reserves tables for a compaction. Deletions of their files are then its own until Release.
  void Use(const std::vector<FlsmTable>& tables);
  // Ends Use.
  void Release(const std::vector<FlsmTable>& tables);
  // Notes that a table's file was deleted. Returns false if the table is unknown, as are the inputs of
  // compactions that Replace has seen.
  bool MarkDeleted(uint64_t number);
  // True if a known table that no compaction uses was deleted, so that Read is needed.
  bool HasDeletedTables() const;
  // True if HasDeletedTables is true, or may become so when a compaction releases its tables.
  bool MayHaveDeletedTables() const { return !deleted_.empty(); }

  // Returns the tables at the given physical levels.
  std::vector<FlsmTable> At(const std::vector<int>& physical) const;
  // Return the number and the bytes of the tables at a physical level.
  uint64_t Count(int physical) const;
  uint64_t Bytes(int physical) const;

 private:
  std::map<int, std::map<uint64_t, uint64_t>> levels_;  // bytes by physical level and table number
  std::set<uint64_t> used_;                             // tables that compactions use
  std::set<uint64_t> deleted_;                          // tables in levels_ whose files were deleted
  uint64_t newest_compacted_ = 0;                       // maximum number of a table that has left level 0
};

}  // namespace rocktune
