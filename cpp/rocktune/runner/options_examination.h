#pragma once

#include <map>
#include <string>

#include "rocktune/runner/rocksdb_options.h"

namespace rocktune {

// What the linked RocksDB makes of options that another version, or a person, wrote.
struct OptionsExamination {
  using BySection = std::map<std::string, OptionMaps::Map>;

  // "db", "cf" or "table", then the option's name: one line that says why RocksDB refuses it.
  BySection refused;
  // What RocksDB reads the value as, where that is another one.
  BySection misread;
  // Options that RocksDB knows the name of and ignores: one line each.
  BySection ignored;
  // Every option with those in force that are in none of these three, as RocksDB parses them.
  OptionMaps parsed;
  // The same, read back from a store that was opened with them: what RocksDB sanitises differs. Empty if the
  // store did not open.
  OptionMaps opened;
  // Why the store did not open; empty if it did.
  std::string open_error;
};

// Looks for every option that RocksDB does not take, so that one does not hide the others. The store lies in
// memory: nothing is written to a disk, and paths, Env, statistics and listeners of `maps` are not used.
// `maps` must have no governor and no FLSM layout.
OptionsExamination ExamineOptions(const OptionMaps& maps);

}  // namespace rocktune
