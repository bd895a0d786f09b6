#pragma once

#include <cstdint>
#include <vector>

#include "rocktune/flsm_options.h"
#include "rocktune/flsm_shape.h"
#include "rocktune/flsm_statistics.h"

namespace rocktune {

// A mission and its result: the stretch of operations between two decisions (RusKey, section 3.1).
struct FlsmMission {
  uint64_t number = 0;        // from 1, counted since the pilot was created
  double seconds = 0;         // from the end of the previous mission
  FlsmStatistics statistics;  // of this mission alone
  FlsmShape shape;            // at the mission's end
};

// The arguments of FlsmStore::SetPolicy.
struct FlsmPolicyChange {
  int level = 1;
  int policy = 1;
  FlsmTransition transition = FlsmTransition::kFlexible;

  bool operator==(const FlsmPolicyChange&) const = default;
};

// Decides about a store's policies after each mission. Applications may implement it.
class FlsmController {
 public:
  virtual ~FlsmController() = default;
  // Returns the policy changes to make after a mission. Called on one thread, for one mission after the
  // other, while the store serves operations. Must not throw.
  virtual std::vector<FlsmPolicyChange> Decide(const FlsmMission& mission) = 0;
};

}  // namespace rocktune
