#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rocktune/flsm/flsm_pilot.h"
#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/flsm_shape.h"
#include "rocktune/flsm_statistics.h"

namespace rocktune {

// Shapes, missions and transitions as other processes and languages are told of them.

// "greedy", "lazy" or "flexible". Throws std::invalid_argument, which says so, for anything else.
FlsmTransition TransitionNamed(const std::string& name);

// `size_ratio`, `level0_files`, `level0_bytes`, and `levels` from the first: each with `policy`,
// `capacity_bytes` and `runs` from the newest, each with `bytes`, `sealed` and `physical_level`.
nlohmann::json ToJson(const FlsmShape& shape);

// An object with the fields of FlsmStatistics, by their names; see Fields().
nlohmann::json ToJson(const FlsmStatistics& statistics);

// `number`, `seconds`, `statistics` and `shape`.
nlohmann::json ToJson(const FlsmMission& mission);

}  // namespace rocktune
