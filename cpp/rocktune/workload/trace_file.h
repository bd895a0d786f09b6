#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// An operation of a trace. Keys are ranks: a key's index in the sorted order of all keys of its family.
// Beginning and end of a deleted range are no keys of their own; each is the rank of the first key behind
// it, or the number of keys.
struct TraceOperation {
  uint64_t time_us = 0;                      // since the trace's first operation
  OperationKind kind = OperationKind::kGet;  // kGet, kPut, kDelete, kScan or kDeleteRange
  uint32_t family = 0;                       // index in TraceSummary::families
  uint64_t key = 0;                          // below the family's `keys`; kDeleteRange: the first deleted key
  uint32_t value_bytes = 0;                  // kPut: the value's size; 0 otherwise
  uint32_t scan_length = 0;                  // kScan: entries to read; 0 otherwise
  uint64_t range_keys = 0;                   // kDeleteRange: keys to delete, perhaps 0; 0 otherwise

  bool operator==(const TraceOperation&) const = default;
};

// The entries of a column family of the user's database, which the replay's store begins with.
struct StoredEntries {
  uint64_t keys = 0;            // of the database
  uint64_t untouched_keys = 0;  // those that no operation of the whole trace names
  uint64_t mean_key_bytes = 0;
  uint64_t value_bytes = 0;  // sum

  bool operator==(const StoredEntries&) const = default;
};

// The operations of a trace on one column family.
struct TraceFamily {
  uint64_t id = 0;            // RocksDB's number of the family
  uint64_t keys = 0;          // ranks are below it
  uint64_t used_keys = 0;     // keys with operations; fewer than `keys` in a sample
  uint64_t present_keys = 0;  // keys in the store before the first operation
  uint64_t mean_key_bytes = 0;
  uint64_t mean_value_bytes = 0;  // of the values whose sizes the trace states; 0 if it states no size
  uint64_t max_value_bytes = 0;
  std::array<uint64_t, kOperationKindCount> operations{};  // indexed by OperationKind
  // Present if the keys before the first operation are those of a database. Ranks then count its keys, too.
  std::optional<StoredEntries> stored;

  bool operator==(const TraceFamily&) const = default;
};

// How a sample of a trace was drawn, and how it differs from the whole.
struct TraceSampling {
  uint64_t scale = 1;       // S: one key of S is in the sample
  uint64_t block_keys = 1;  // keys with neighbouring ranks that are kept or left out together
  uint64_t hot_keys = 0;  // keys kept with one of S operations, because a single one would decide the sample
  double operations_ratio = 1;  // operations of the sample, times S, over those of the whole
  double mix_error = 0;         // maximum difference of a kind's share of operations, in [0, 1]
  // Share of the operations on the hottest hundredth of the keys.
  double hot_share_whole = 0, hot_share_sample = 0;
  // Hit ratio of an LRU cache for a tenth of the keys (of at most 500,000 of the whole).
  double hit_ratio_whole = 0, hit_ratio_sample = 0;

  bool operator==(const TraceSampling&) const = default;
};

// What a trace holds, and what became of the parts that a replay cannot use.
struct TraceSummary {
  uint64_t operations = 0;
  uint64_t span_us = 0;       // from the first operation to the last
  uint64_t scan_entries = 0;  // sum of the scans' lengths
  uint64_t range_keys = 0;    // sum of the keys of deleted ranges
  double hot_share = 0;       // share of the operations on the hottest hundredth of the keys
  std::vector<TraceFamily> families;
  std::map<std::string, uint64_t> notes;  // what was assumed or left out, each with the number of its cases
  std::optional<TraceSampling> sampling;  // absent for a whole trace

  bool operator==(const TraceSummary&) const = default;
};

nlohmann::json ToJson(const TraceSummary& summary);
// Returns the summary in what ToJson returned. Throws nlohmann::json::exception or std::invalid_argument for
// other JSON.
TraceSummary TraceSummaryFromJson(const nlohmann::json& json);

// Maxima of an operation's numbers in a file.
inline constexpr uint64_t kMaxTraceTimeUs = (uint64_t{1} << 48) - 1;
inline constexpr uint64_t kMaxTraceFamilies = 4096;
inline constexpr uint64_t kMaxTraceValueBytes = 16 << 20;

// A set of keys of a family, one bit for each rank.
using KeyBits = std::vector<uint64_t>;
inline bool HasBit(const KeyBits& bits, uint64_t key) { return (bits[key / 64] >> (key % 64) & 1) != 0; }
inline void SetBit(KeyBits* bits, uint64_t key) { (*bits)[key / 64] |= uint64_t{1} << (key % 64); }
inline std::size_t WordsOf(uint64_t keys) { return static_cast<std::size_t>((keys + 63) / 64); }

// Returns the path of the sample of a trace file, which lies next to it; `path` for a scale of 1.
std::string SamplePath(const std::string& path, uint64_t scale);

// Size in a trace file of a value that the database does not have.
inline constexpr uint32_t kNotStored = UINT32_MAX;

// Writes a trace file: operations, then the sizes of stored values, then the keys that are present at the
// start, then the summary. The file appears under its name when it is complete. Not thread-safe.
// Failure: throws std::runtime_error, with the system's reason, if the file cannot be written.
class TraceFileWriter {
 public:
  explicit TraceFileWriter(const std::string& path);
  // Removes what was written unless Finish has succeeded.
  ~TraceFileWriter();
  TraceFileWriter(const TraceFileWriter&) = delete;
  TraceFileWriter& operator=(const TraceFileWriter&) = delete;

  // REQUIRES: numbers within the maxima above.
  void Add(const TraceOperation& operation);
  // Adds the value sizes of further ranks, kNotStored for keys without a value. REQUIRES: all operations are
  // added.
  void AddStoredSizes(const std::vector<uint32_t>& bytes);
  // Completes the file. REQUIRES: `present` has the bits of each family of the summary, which counts all
  // operations; and the sizes of all ranks of its families with stored entries are added, in their order.
  void Finish(const TraceSummary& summary, const std::vector<KeyBits>& present);

 private:
  void Write(const void* data, std::size_t bytes);

  const std::string path_;
  const std::string partial_path_;
  std::FILE* file_;
};

// A trace file. Immutable, hence thread-safe.
// Failure: all functions throw std::invalid_argument, with one line that names the file, if it cannot be read
// or is not a complete trace file.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  const TraceSummary& summary() const { return summary_; }
  // Returns the keys of a family, by its index, that are present before the first operation.
  KeyBits PresentKeys(std::size_t family) const;
  // Returns the sizes of the stored values of `count` keys of a family, from the rank `first` on; kNotStored
  // for keys without one. REQUIRES: the family has stored entries and these ranks.
  std::vector<uint32_t> StoredSizes(std::size_t family, uint64_t first, uint64_t count) const;

  // Reads the operations in order, in blocks. `file` must outlive it. Not thread-safe.
  class Cursor {
   public:
    explicit Cursor(const TraceFile& file);
    // Reads the next operation and returns true, or returns false at the end.
    bool Next(TraceOperation* operation);
    // Goes back to the first operation.
    void Restart();

   private:
    const TraceFile& file_;
    std::vector<uint64_t> block_;
    std::size_t position_ = 0;  // in block_
    uint64_t read_ = 0;         // operations read from the file into block_
  };

 private:
  void Read(void* data, std::size_t bytes, uint64_t offset) const;
  // Returns the offset of the sizes of a family's stored values; of the bits of present keys for the number
  // of families.
  uint64_t SizesOffset(std::size_t family) const;

  const std::string path_;
  const int descriptor_;
  TraceSummary summary_;
};

}  // namespace rocktune
