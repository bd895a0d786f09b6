#pragma once

#include <string>

#include "rocktune/options_watcher.h"
#include "rocktune/runner/rocksdb_options.h"

namespace rocktune {

// Applies the content of a watched file, as an OptionsWatcher would, to an empty database in memory and
// returns the report. `present` has the database's options, and all of its column families among `families`.
// Nothing is written to a disk, and nothing waits, because level 0 is empty and no governor is attached.
// Throws RunError (invalid) if RocksDB does not take `present` or opens no database with it.
OptionsReport TryWatched(const OptionMaps& present, const std::string& text);

}  // namespace rocktune
