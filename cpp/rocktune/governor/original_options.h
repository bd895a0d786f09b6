#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <map>
#include <string>
#include <vector>

#include "rocktune/governor/governed_options.h"

namespace rocktune {

// The file in a database's directory with the options that column families had before a governor changed
// them.
//
// SetOptions writes the governor's values into the database's OPTIONS file. After a kill, a program that
// takes its options from there opens the database with them, perhaps with compactions off. This file holds
// the original values.
//
// RocksDB ignores a file of this name. Checkpoint and BackupEngine do not copy it, and DestroyDB leaves it.
// It may therefore be stale, and counts only for a column family whose triggers are still a governor's.
inline constexpr const char* kOriginalOptionsFile = "ROCKTUNE_GOVERNOR";

// The original options of one column family.
struct OriginalOptions {
  GovernedOptions options;
  // The bounds by which governors have raised the triggers since; see AreRaisedTriggers.
  std::vector<DebtBounds> bounds;
};

// Original options by the name of the column family.
using OriginalsByFamily = std::map<std::string, OriginalOptions>;

// Reads the file into `originals`, which is empty if the file does not exist. Returns Corruption with the
// file's path if it cannot be parsed, and otherwise the Env's status. Thread-safe.
rocksdb::Status ReadOriginals(rocksdb::DB* db, OriginalsByFamily* originals);

// Replaces the file durably, or deletes it if `originals` is empty. Returns the Env's status; on failure the
// old file or the new one is there, complete. Not thread-safe: callers exclude each other.
rocksdb::Status WriteOriginals(rocksdb::DB* db, const OriginalsByFamily& originals);

// Returns the original options of a column family that now has `options`: those in `kept` if a governor set
// its present triggers, and else `options` themselves. Adds `bounds` to the result's bounds.
OriginalOptions OriginalOptionsOf(const OriginalsByFamily& kept, const std::string& family,
                                  const GovernedOptions& options, const DebtBounds& bounds);

}  // namespace rocktune
