#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "rocktune/flsm_shape.h"

namespace rocktune {

// The decision of a CostController as a pure function: an immutable snapshot goes in, a policy for each level
// comes out. A simulator can drive it as a store does.

// An estimated number with its standard error.
struct CostEstimate {
  double value = 0;
  double deviation = std::numeric_limits<double>::infinity();  // infinite while nothing is known
};

// The prices that clients pay, in nanoseconds of their time.
struct CostPrices {
  CostEstimate byte_ns;               // a byte that a merge reads or writes
  CostEstimate scan_ns;               // a run that a scan passes through
  std::vector<CostEstimate> vain_ns;  // by level from level 1: a run without the key, for each lookup
};

// The operations of a mean mission of the present workload.
struct CostWorkload {
  double lookups = 0;
  double scans = 0;
  double writes = 0;
  double flushed_bytes = 0;

  double operations() const { return lookups + scans + writes; }
};

// The time over which costs are added up. A mission that is t missions away has the weight
// half_after / (half_after + t): the longer a workload has to last for it, the less it counts.
struct CostHorizon {
  double missions = 1000;
  double half_after = 200;  // infinity gives all missions the weight 1

  // Returns the integral of the weight between two times, in missions from now.
  double Weight(double from, double to) const;
};

struct CostSnapshot {
  FlsmShape shape;
  CostPrices prices;
  CostWorkload workload;
  uint64_t flush_bytes = 0;  // of a flush, above 0
  bool moves = false;        // true if a run that goes to an empty place is not rewritten
};

// The planned policy of one level. Costs are in nanoseconds per operation.
struct LevelPlan {
  int level = 1;
  int present = 1;          // K
  int policy = 1;           // K of least cost until the horizon
  double present_ns = 0;    // cost of the level's runs and merges if K stays
  double policy_ns = 0;     // with the planned K
  double deviation_ns = 0;  // standard error of the difference

  double gain_ns() const { return present_ns - policy_ns; }
};

// Returns a plan for each level in use, from level 1 on. The costs of a policy are the present runs that stay
// until they are pushed, the runs to come, and the merges, at the snapshot's prices. An unknown price counts
// as 0, and makes the deviation infinite if it matters. Throws no exception.
// REQUIRES: FlsmGranularity::kLevels.
std::vector<LevelPlan> PlanPolicies(const CostSnapshot& snapshot, const CostHorizon& horizon);

// Returns the cost of all runs and merges in nanoseconds per operation if the policies stay.
double PredictedCost(const CostSnapshot& snapshot, const CostHorizon& horizon);

}  // namespace rocktune
