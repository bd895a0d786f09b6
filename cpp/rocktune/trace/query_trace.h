#pragma once

#include <deque>
#include <string>

#include "rocktune/trace/trace_bytes.h"
#include "rocktune/trace/trace_source.h"

namespace rocktune {

// Returns true if a file that begins with `begin`, its first 64 bytes, may be a binary trace of RocksDB.
bool LooksLikeRocksDbTrace(const std::string& begin);

// A query trace of DB::StartTrace. See docs/design/traces.md for its format, and why it is not read by
// RocksDB's Replayer.
class QueryTrace : public TraceSource {
 public:
  explicit QueryTrace(const std::string& path);

  bool Next(TraceEvent* event) override;
  void Restart() override;
  uint64_t bytes_read() const override { return bytes_.position(); }
  uint64_t file_bytes() const override { return bytes_.size(); }
  uint64_t resolution_us() const override { return 1; }
  const TraceNotes& notes() const override { return notes_; }

 private:
  // Reads the first record, which states the format's version.
  void ReadHeader();
  // Reads a record and queues its operations. Returns false if no further record can be found.
  bool ReadRecord();
  // Queues the operations of a record of a known type. Returns false if its payload is malformed.
  bool Decode(char type, uint64_t time_us);
  bool DecodeWrite(uint64_t time_us);
  bool DecodeGet(uint64_t time_us);
  bool DecodeSeek(uint64_t time_us, bool backwards);
  bool DecodeMultiGet(uint64_t time_us);
  bool End(const std::string& note);

  TraceBytes bytes_;
  TraceNotes notes_;
  std::string payload_;
  std::deque<TraceEvent> events_;  // of the records read so far, in order
  bool ended_ = false;
};

}  // namespace rocktune
