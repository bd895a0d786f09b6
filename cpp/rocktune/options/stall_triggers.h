#pragma once

#include <rocksdb/db.h>

#include <string>

#include "rocktune/governor/original_options.h"
#include "rocktune/options/live_options.h"

namespace rocktune {

// Returns true if a governor has set a column family's triggers. `governed` is what ROCKTUNE_GOVERNOR says.
bool IsGoverned(rocksdb::DB* db, const OriginalsByFamily& governed, rocksdb::ColumnFamilyHandle* family);

// Takes those of a column family's changes out of `changes` that must wait, and returns them:
// - the options that a governor holds, if one has the column family (`held`);
// - the triggers of level 0 or of the pending bytes, while a lowered one would slow or stop writes at once.
// Sets `reason` if there are any.
OptionMaps::Map TakeHarmfulTriggers(const LiveOptions& live, rocksdb::ColumnFamilyHandle* family, bool held,
                                    OptionMaps::Map* changes, std::string* reason);

}  // namespace rocktune
