#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rocktune/governor_decision.h"

namespace rocktune {

// Returns the counters in Prometheus' text format; every name begins with `rocktune_governor_`.
std::string PrometheusText(const GovernorCounters& counters);

// Returns the counters and the last decision as one object; docs/design/worker-protocol.md lists its fields.
nlohmann::json ToJson(const GovernorCounters& counters);

}  // namespace rocktune
