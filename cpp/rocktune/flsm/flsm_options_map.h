#pragma once

#include "rocktune/flsm_options.h"
#include "rocktune/util/settings.h"

namespace rocktune {

// Parses an FLSM store's layout, by the names of docs/design/worker-protocol.md. A setting that is not named
// has the default of a new store. Throws std::invalid_argument, as Settings does; does not check ranges,
// which FlsmStore::Open does.
FlsmOptions FlsmOptionsFromMap(const SettingsMap& map);

// Returns all settings of a layout as text; FlsmOptionsFromMap undoes it.
SettingsMap MapFromFlsmOptions(const FlsmOptions& layout);

}  // namespace rocktune
