#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <map>
#include <string>
#include <vector>

#include "rocktune/governor/governed_options.h"

namespace rocktune {

// What column families had before a governor changed it, kept in a file of the database's directory.
//
// SetOptions writes the governor's values into the database's OPTIONS file. If the process is killed, a
// program that loads its options from there opens the database with them, perhaps with compactions off. The
// file tells what was there before. RocksDB ignores a file of this name; Checkpoint and BackupEngine do not
// copy it, and DestroyDB leaves it. So it may be stale, and counts only where a column family still has
// triggers that a governor set.
inline constexpr const char* kOriginalOptionsFile = "ROCKTUNE_GOVERNOR";

struct OriginalOptions {
  GovernedOptions options;
  // By which the column family's triggers were raised since.
  std::vector<DebtBounds> bounds;
};

using OriginalsByFamily = std::map<std::string, OriginalOptions>;  // by the column families' names

// Reads the file; no originals if there is none. Fails with Corruption, which names the file, if it cannot be
// understood, and with what the Env said otherwise.
rocksdb::Status ReadOriginals(rocksdb::DB* db, OriginalsByFamily* originals);

// Replaces the file, durably; deletes it if there are no originals. Callers exclude each other.
rocksdb::Status WriteOriginals(rocksdb::DB* db, const OriginalsByFamily& originals);

// Returns the originals of a column family that has these options, with `bounds` added: those that are kept
// if its triggers were raised by a governor, the options themselves otherwise.
OriginalOptions OriginalsOf(const OriginalsByFamily& kept, const std::string& family,
                            const GovernedOptions& options, const DebtBounds& bounds);

}  // namespace rocktune
