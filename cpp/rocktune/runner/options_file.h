#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rocktune/runner/rocksdb_options.h"

namespace rocktune {

struct OptionsFile {
  std::string rocksdb_version;  // that wrote the file
  // By name; `db` is the same in each. `table` has block_cache where the file has it, as the file writes it:
  // RocksDB reads that option and never writes it, so only what people or rocktune wrote has it.
  std::vector<std::pair<std::string, OptionMaps>> column_families;
  // Names in a file of another version that the linked RocksDB does not know or no longer heeds, listeners,
  // and the application's own objects that were left out.
  std::vector<std::string> ignored;
};

// What becomes of a comparator or merge operator that only the application has which wrote the file.
enum class ForeignObjects { kRefuse, kLeaveOut };

// Reads an OPTIONS file as RocksDB does, which must say all that it says: RocksDB itself takes half a file,
// and numbers that it cannot hold. Throws RunError (invalid) with one line that names the file and what is
// wrong.
OptionsFile ReadOptionsFile(const std::string& path, ForeignObjects foreign = ForeignObjects::kRefuse);

}  // namespace rocktune
