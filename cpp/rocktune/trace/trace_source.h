#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// An operation as a trace states it, with the user's own key.
struct TraceEvent {
  uint64_t time_us = 0;                      // since any fixed time
  OperationKind kind = OperationKind::kGet;  // kGet, kPut, kDelete, kScan or kDeleteRange
  uint32_t family_id = 0;                    // RocksDB's number of the column family
  std::string key;  // kDeleteRange: the beginning of the range, perhaps no key of the store
  // kScan: the first key that is not read, or for a scan backwards the last one that is; empty if there is no
  // bound. kDeleteRange: the end of the range, which lies behind its beginning.
  std::string bound;
  bool backwards = false;               // kScan: whether it was recorded as a scan to smaller keys
  std::optional<uint64_t> value_bytes;  // of the value read or written; absent if the trace does not state it
  uint64_t scan_length = 0;             // kScan: entries read; 0 if the trace does not state it
};

// What was assumed or left out, each with the number of its cases. The texts are for users and name no key.
using TraceNotes = std::map<std::string, uint64_t>;
// The note on a range delete whose end does not lie behind its beginning.
inline constexpr const char* kEmptyRangeNote =
    "range deletes whose end is not behind their beginning left out";

// The operations of a trace file, in the file's order. A trace that is cut or damaged is read up to its first
// record that cannot be found; notes say so. Not thread-safe.
// Failure: functions throw std::invalid_argument, with one line that says what is wrong, if the file cannot
// be read or holds no trace.
class TraceSource {
 public:
  virtual ~TraceSource() = default;

  // Reads the next operation and returns true, or returns false at the end.
  virtual bool Next(TraceEvent* event) = 0;
  // Goes back to the first operation and forgets the notes.
  virtual void Restart() = 0;
  // Returns the bytes of the file that have been read.
  virtual uint64_t bytes_read() const = 0;
  // Returns the bytes of the file.
  virtual uint64_t file_bytes() const = 0;
  // Returns the step of the timestamps: 1, or more if the trace has only whole seconds.
  virtual uint64_t resolution_us() const = 0;
  // Returns the notes on what has been read.
  virtual const TraceNotes& notes() const = 0;
};

// Opens a trace. Its format is found from its first bytes:
// - a query trace of DB::StartTrace, RocksDB 6.18 to 11;
// - the text of trace_analyzer --convert_to_human_readable_trace;
// - a CSV file whose first line names the columns time_us, operation and key, and perhaps family,
//   value_bytes, scan_length and end_key;
// - a cache trace of Twitter: lines of timestamp, key, key size, value size, client, operation and TTL.
std::unique_ptr<TraceSource> OpenTrace(const std::string& path);

}  // namespace rocktune
