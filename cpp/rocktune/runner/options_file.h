#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rocktune/runner/rocksdb_options.h"

namespace rocktune {

struct OptionsFile {
  std::string rocksdb_version;  // that wrote the file
  // By name; `db` is the same in each. The file says nothing of block_cache, so `table` does not either.
  std::vector<std::pair<std::string, OptionMaps>> column_families;
  // Names in a file of another version that the linked RocksDB does not know or no longer heeds, and
  // listeners.
  std::vector<std::string> ignored;
};

// Reads an OPTIONS file as RocksDB does, which must say all that it says: RocksDB itself takes half a file,
// and numbers that it cannot hold. Throws RunError (invalid) with one line that names the file and what is
// wrong.
OptionsFile ReadOptionsFile(const std::string& path);

}  // namespace rocktune
