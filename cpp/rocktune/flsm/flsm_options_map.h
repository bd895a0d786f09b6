#pragma once

#include "rocktune/flsm_options.h"
#include "rocktune/util/settings.h"

namespace rocktune {

// Returns the layout in `map`, by the names of docs/design/worker-protocol.md. A setting that is missing has
// the default of a new store. Throws std::invalid_argument for an unknown name and for a value that cannot be
// parsed. Does not check ranges; FlsmStore::Open does.
FlsmOptions FlsmOptionsFromMap(const SettingsMap& map);

// Returns all settings of a layout as text, in the form that FlsmOptionsFromMap parses.
SettingsMap MapFromFlsmOptions(const FlsmOptions& layout);

}  // namespace rocktune
