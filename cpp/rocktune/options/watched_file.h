#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <string>

#include "rocktune/runner/rocksdb_options.h"

namespace rocktune {

// The name of the watched file in a database's directory. RocksDB ignores a file of this name.
inline constexpr const char* kWatchedFile = "ROCKTUNE_OPTIONS";

// What a watched file says.
struct WatchedFile {
  uint32_t crc32 = 0;       // the checksum in its last line
  std::string database_id;  // "" if it is for any database
  OptionMaps options;       // `db` and `families`; each family has `cf` and `table`
};

// Returns the CRC-32 of `text` as zlib, Python's zlib.crc32 and Java's CRC32 compute it.
uint32_t Crc32(const std::string& text);

// Returns true if `text` ends with a line for its checksum and this is right. A text without one may be a
// file that somebody is still writing.
bool IsComplete(const std::string& text);

// Parses a watched file; docs/apply.md describes the format. Returns Incomplete if IsComplete is false, and
// InvalidArgument with the number of the line for any other fault. Does not know which options exist.
rocksdb::Status ParseWatchedFile(const std::string& text, WatchedFile* file);

}  // namespace rocktune
