#pragma once

#include <rocksdb/slice.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "rocktune/trace/stored_keys.h"
#include "rocktune/util/progress.h"
#include "rocktune/workload/trace_file.h"

namespace rocktune {

// Ranks the keys of a trace among those of the database whose operations it records, and collects the sizes
// of the stored values. Both are sorted, so that one pass over the database is enough and no key is copied.
// Sizes lie in a file until they are taken. Not thread-safe.
// Failure: functions throw as StoredKeys does, and std::runtime_error if the file cannot be written.
class StoredMerge {
 public:
  // A column family that both the trace and the database have.
  struct Family {
    uint64_t keys = 0;          // of trace and database together
    uint64_t touched_keys = 0;  // that both have
    uint64_t max_value_bytes = 0;
    StoredEntries stored;
  };

  // The file `sizes_path` exists until the destructor. Calls `progress` with the phase "stored-keys" (keys of
  // the database, estimated).
  StoredMerge(const std::string& directory, const std::string& sizes_path, const Progress& progress);
  ~StoredMerge();
  StoredMerge(const StoredMerge&) = delete;
  StoredMerge& operator=(const StoredMerge&) = delete;

  // Returns the rank of a key of the trace among all keys of its family.
  // REQUIRES: calls in ascending order of family and key, of this function and RankOfBound together.
  uint64_t Rank(uint32_t family_id, const rocksdb::Slice& key);
  // Returns the number of keys of trace and database below a bound, which is no key. REQUIRES: as for Rank.
  uint64_t RankOfBound(uint32_t family_id, const rocksdb::Slice& bound);
  // Passes the keys behind the last call's. Throws std::invalid_argument if trace and database share no key.
  void Finish();

  // All functions below REQUIRE Finish.

  // Returns the families, by RocksDB's numbers. Those that only the trace has are missing.
  const std::map<uint32_t, Family>& families() const { return families_; }
  // Sets the bits of a family's stored keys, and passes the sizes of its values to the writer.
  // REQUIRES: calls for all families in ascending order.
  KeyBits Take(const Family& family, TraceFileWriter* writer);
  // Returns notes on what is left out or changed.
  TraceNotes Notes() const;

 private:
  // Goes to a family, unless it is the present one.
  void Enter(uint32_t family_id);
  void Begin(uint32_t family_id);
  void Pass();
  void EndFamily();
  void Append(uint32_t bytes);
  void Report();

  const std::string directory_;
  const std::string sizes_path_;
  const Progress& progress_;
  StoredKeys keys_;
  std::FILE* sizes_;
  std::map<uint32_t, Family> families_;
  std::map<uint32_t, uint64_t> missing_;  // keys of the trace by family that the database lacks
  Family* family_ = nullptr;              // the one that Rank is in; nullptr if the database lacks it
  uint32_t family_id_ = 0;
  bool begun_ = false;
  uint64_t key_bytes_ = 0;  // of the stored keys of family_
  uint64_t cut_values_ = 0;
  uint64_t passed_ = 0;
  double estimated_ = 0;
  std::chrono::steady_clock::time_point last_report_ = std::chrono::steady_clock::now();
};

}  // namespace rocktune
