#pragma once

#include "rocktune/compaction_governor.h"
#include "rocktune/util/settings.h"

namespace rocktune {

// Returns the governor's options in `map`, by the names of docs/design/worker-protocol.md. An option that is
// missing has its default. A device_bytes_per_s of 0 is what a worker replaces by the device's.
// Throws std::invalid_argument for an unknown name, a value that cannot be parsed, and options that
// CompactionGovernor::Check refuses.
GovernorOptions GovernorOptionsFromMap(const SettingsMap& map);

// Returns all of a governor's options as text, except its callback and its clock.
SettingsMap MapFromGovernorOptions(const GovernorOptions& options);

}  // namespace rocktune
