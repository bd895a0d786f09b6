#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rocktune/flsm/flsm_pilot.h"
#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/flsm_shape.h"
#include "rocktune/flsm_statistics.h"

namespace rocktune {

// JSON for other processes and languages. docs/design/worker-protocol.md describes the fields.

// Returns the transition named "greedy", "lazy" or "flexible". Throws std::invalid_argument with the name for
// any other name.
FlsmTransition TransitionNamed(const std::string& name);

// Returns an object with `size_ratio`, `level0_files`, `level0_bytes` and `levels` from level 1 on. A level
// has `policy`, `capacity_bytes` and `runs` from the newest on; a run has `bytes`, `sealed` and
// `physical_level`.
nlohmann::json ToJson(const FlsmShape& shape);

// Returns an object with the fields of FlsmStatistics, by the names in Fields().
nlohmann::json ToJson(const FlsmStatistics& statistics);

// Returns an object with `number`, `seconds`, `statistics` and `shape`.
nlohmann::json ToJson(const FlsmMission& mission);

}  // namespace rocktune
