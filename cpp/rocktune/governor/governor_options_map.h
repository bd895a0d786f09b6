#pragma once

#include "rocktune/compaction_governor.h"
#include "rocktune/util/settings.h"

namespace rocktune {

// Parses a governor's options, by the names of docs/design/worker-protocol.md. An option that is not named
// has its default; device_bytes_per_s may be 0 here. Throws std::invalid_argument, as Settings does and with
// the reason of CompactionGovernor::Check.
GovernorOptions GovernorOptionsFromMap(const SettingsMap& map);

// Returns all of a governor's options as text, except its callback and its clock.
SettingsMap MapFromGovernorOptions(const GovernorOptions& options);

}  // namespace rocktune
