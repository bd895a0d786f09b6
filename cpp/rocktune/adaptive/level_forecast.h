#pragma once

#include <cstdint>

#include "rocktune/cost_plan.h"
#include "rocktune/flsm_shape.h"

namespace rocktune {

// Forecasts of an FLSM-tree whose levels push all their runs at once (FlsmGranularity::kLevels), as pure
// functions. They follow the rules of flsm_policy.h.
//
// A level is pushed when it is full, whatever its policy. So the data that arrives in a level does not depend
// on the policies above, and each level has a forecast of its own. Times are in missions from now.

// The data that arrives in a level: a first arrival, then further ones at equal intervals.
struct Arrivals {
  double first_at = 0;
  uint64_t first_bytes = 0;
  double period = 0;   // above 0; infinity if nothing arrives
  uint64_t bytes = 0;  // of each further arrival
};

// Returns the flushes into level 1 of a store that writes `bytes_per_mission`.
Arrivals FlushArrivals(uint64_t flush_bytes, double bytes_per_mission);
// Returns the arrivals in the level below `level`, given the arrivals in `level` itself.
Arrivals PushArrivals(const FlsmShape& shape, int level, const Arrivals& arrivals);

// The work of one level until the horizon, in missions of full weight.
struct LevelForecast {
  double runs = 0;         // integral of the number of runs
  double moved_bytes = 0;  // that merges into the level read and write
};

// Returns the work of a level under `policy`, which is set now by a flexible transition. `moves` is true if
// an arriving single run that becomes a run of its own is not rewritten.
LevelForecast ForecastLevel(const FlsmShape& shape, int level, int policy, const Arrivals& arrivals,
                            const CostHorizon& horizon, bool moves);

}  // namespace rocktune
