#pragma once

#include <nlohmann/json_fwd.hpp>

#include "rocktune/governor/compaction_governor.h"
#include "rocktune/runner/rocksdb_options.h"

namespace rocktune {

// A governor's settings from text, by the names of docs/design/worker-protocol.md; those not named are at
// their defaults, the device's bandwidth at 0. Throws RunError (invalid), naming the setting, for what is not
// known or makes no sense.
GovernorOptions GovernorOptionsFromMap(const OptionMaps::Map& map);

// The same as text, all of them.
OptionMaps::Map MapFromGovernorOptions(const GovernorOptions& options);

nlohmann::json ToJson(const GovernorCounters& counters);

}  // namespace rocktune
