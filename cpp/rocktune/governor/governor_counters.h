#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rocktune/governor_decision.h"

namespace rocktune {

// Returns the counters in Prometheus' text format.
std::string PrometheusText(const GovernorCounters& counters);

// Returns the counters, with the last decision, as docs/design/worker-protocol.md names them.
nlohmann::json ToJson(const GovernorCounters& counters);

}  // namespace rocktune
