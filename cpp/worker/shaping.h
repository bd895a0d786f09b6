#pragma once

#include "rocktune/flsm/flsm_store.h"
#include "rocktune/runner/rocksdb_options.h"

namespace rocktune {

// An FLSM store's layout from text, by the names of docs/design/worker-protocol.md; what is not named has its
// default. Throws RunError (invalid), naming the setting, for what is not known or is no number.
FlsmOptions FlsmOptionsFromMap(const OptionMaps::Map& map);

// The same as text, all of it.
OptionMaps::Map MapFromFlsmOptions(const FlsmOptions& layout);

}  // namespace rocktune
