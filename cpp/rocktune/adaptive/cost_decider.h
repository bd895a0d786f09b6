#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "rocktune/adaptive/change_detector.h"
#include "rocktune/adaptive/cost_estimator.h"
#include "rocktune/cost_controller.h"

namespace rocktune {

// The state of a CostController: estimates, the test for another workload, and the log. Not thread-safe.
// Throws no exception.
class CostDecider {
 public:
  explicit CostDecider(const CostControllerOptions& options) : options_(options) {}

  // See CostController::Decide.
  std::vector<FlsmPolicyChange> Decide(const FlsmMission& mission);

  bool IsSettled() const { return settled_; }
  const std::deque<CostDecision>& log() const { return log_; }
  std::deque<CostDecision>* mutable_log() { return &log_; }
  const CostEstimator& estimator() const { return estimator_; }
  CostEstimator* mutable_estimator() { return &estimator_; }

 private:
  // Returns what the mission shows of its workload.
  WorkloadSigns SignsOf(const FlsmMission& mission) const;
  // Adds the mission's cost to the latest decision.
  void Observe(const FlsmMission& mission);
  CostSnapshot SnapshotOf(const FlsmShape& shape) const;
  // Returns the changes worth making of all levels from `first` on, and logs them. Settles if this was the
  // workload's last decision.
  std::vector<FlsmPolicyChange> Plan(const FlsmMission& mission, int first);
  void Log(CostDecision decision);

  const CostControllerOptions options_;
  CostEstimator estimator_;
  ChangeDetector detector_;
  std::optional<FlsmShape> before_;  // the shape at the mission's beginning
  int age_ = 0;                      // missions of the workload
  int planned_levels_ = 0;
  bool settled_ = false;
  std::deque<CostDecision> log_;
};

}  // namespace rocktune
