#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/cost_plan.h"
#include "rocktune/flsm_controller.h"

namespace rocktune {

struct CostControllerOptions {
  CostHorizon horizon;
  // Bytes of a flush; 0 means a T-th of level 1's capacity, as in a store whose level1_bytes is 0.
  uint64_t flush_bytes = 0;
};

// An entry of a CostController's log.
struct CostDecision {
  uint64_t mission = 0;  // after which it was made
  // "change", "probe" (a change whose gain is within its uncertainty), "workload" (another one has begun), or
  // "settled".
  std::string what;
  std::vector<FlsmPolicyChange> changes;
  std::string why;
  double predicted_ns = 0;  // of a mean operation until the next decision, at most 8 missions
  double observed_ns = 0;   // of the missions so far; 0 before the first
  int observed_missions = 0;
};

// Chooses each level's policy by its predicted cost until a horizon (PlanPolicies).
//
// Prices are measured and never explored: what a run costs a lookup and a scan, and what a merged byte costs
// waiting clients, follows from the statistics of any policy. It decides after missions 1, 2, 4 and 8 of a
// workload and then has settled; while merges have not shown a price beyond doubt, it goes on after 16, 32
// and so on. A settled controller changes nothing until the workload changes or the tree has a new level. A
// sequential test finds another workload, with at most 1 false alarm in 20,000 missions.
//
// Decide is called on one thread; all other functions are thread-safe. Throws no exception.
// REQUIRES: FlsmGranularity::kLevels.
class CostController : public FlsmController {
 public:
  explicit CostController(const CostControllerOptions& options = {});
  ~CostController() override;

  std::vector<FlsmPolicyChange> Decide(const FlsmMission& mission) override;

  // True if the controller has decided for the present workload.
  bool IsSettled() const;
  // Returns the last 1,000 decisions, oldest first.
  std::vector<CostDecision> Log() const;
  // Returns the estimated prices of `levels` levels.
  CostPrices Prices(int levels) const;
  // Returns prices and log as text, for Restore.
  std::string Save() const;
  // Replaces prices and log by saved ones. Returns Corruption, and changes nothing, for any other text.
  // REQUIRES: called before the first mission.
  rocksdb::Status Restore(const std::string& text);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace rocktune
