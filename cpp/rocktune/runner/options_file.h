#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rocktune/runner/rocksdb_options.h"

namespace rocktune {

// The contents of an OPTIONS file.
struct OptionsFile {
  std::string rocksdb_version;  // of the RocksDB that wrote the file
  // The options of each column family, by its name; `db` is equal in all. `table` has block_cache, with the
  // text of the file, if the file has it. Only people and rocktune write this option; RocksDB only reads it.
  std::vector<std::pair<std::string, OptionMaps>> column_families;
  // Names of options in the file that were left out: listeners, objects of the application with
  // ForeignObjects::kLeaveOut, and options of another version that the linked RocksDB does not know or
  // ignores.
  std::vector<std::string> ignored;
};

// How ReadOptionsFile treats comparators and merge operators that exist only in the application that wrote
// the file: it fails, or it leaves them out.
enum class ForeignObjects { kRefuse, kLeaveOut };

// Returns the options in the OPTIONS file at `path`, parsed by RocksDB. Unlike RocksDB it refuses a file that
// is cut off, and numbers that do not fit their option. Throws RunError (invalid), with one line that names
// the file and the problem, if the file cannot be read or is refused.
OptionsFile ReadOptionsFile(const std::string& path, ForeignObjects foreign = ForeignObjects::kRefuse);

}  // namespace rocktune
