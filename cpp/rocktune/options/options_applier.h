#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <set>
#include <string>
#include <vector>

#include "rocktune/options/live_options.h"
#include "rocktune/options/watched_file.h"
#include "rocktune/options_watcher.h"

namespace rocktune {

// Applies the content of watched files to an open database; the contract is OptionsWatcher's. Not
// thread-safe. Functions may throw RunError or std::bad_alloc.
class OptionsApplier {
 public:
  OptionsApplier(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& families)
      : live_(db, families) {}

  // Takes the options in force for those that a file without them restores; of a family that a governor
  // holds, those from before the governor. Returns Corruption if ROCKTUNE_GOVERNOR cannot be parsed.
  rocksdb::Status TakeOriginals();

  // Applies a file's content.
  OptionsReport Apply(const std::string& text);

  // Sets the options that wait, as far as this does no harm now. The report's outcome is kWaiting, without
  // changes, if all of them still wait.
  OptionsReport ApplyWaiting();

  bool waiting() const { return !waiting_.db.empty() || !waiting_.families.empty(); }

 private:
  // Returns the values to be in force after a file: its own, and the originals of what the last one set.
  OptionMaps Target(const WatchedFile& file) const;
  // Returns why the options cannot be in force together, or "". `changes` are those that differ now.
  std::string WhyNot(const OptionMaps& target, const OptionMaps& changes, const OptionMaps& now) const;
  // Adds the options to which a governor will return its column families, unless they are among `changes`.
  OptionMaps WithGovernedOriginals(OptionMaps changes) const;
  std::string WhyNotOfCaches(const OptionMaps& target) const;
  // Moves out of `changes` what would stop writes now or is a governor's, and returns it. `reason` says why.
  OptionMaps TakeWaiting(OptionMaps* changes, std::string* reason);
  // Makes the changes, reads `target` back, and rolls back on failure.
  OptionsReport Change(OptionMaps target, const OptionMaps& now, OptionMaps changes);

  LiveOptions live_;
  OptionMaps originals_;
  // Column families whose options waited for a governor. They do so until ROCKTUNE_GOVERNOR no longer names
  // them: Detach restores the options before that, and reads them back.
  std::set<std::string> held_;
  OptionMaps wanted_;   // of the last file that was applied
  OptionMaps waiting_;  // those of `wanted_` that are not in force yet
};

}  // namespace rocktune
