#include "rocktune/adaptive/cost_decider.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr std::size_t kMaxLog = 1000;
constexpr int kSettlesAfter = 8;    // missions of a workload, or more until the price of merges is known
constexpr int kMaxObserved = 8;     // missions that tell whether a decision's prediction holds
constexpr double kMinGain = 0.002;  // share of an operation's time that a change must gain
constexpr double kCertain = 2;      // standard errors that a certain gain exceeds

// True after missions 1, 2, 4, 8 and so on of a workload.
bool IsDue(int age) { return (age & (age - 1)) == 0; }

// True if the price is above zero beyond doubt.
bool IsKnown(const CostEstimate& price) { return price.value > kCertain * price.deviation; }

template <typename... Values>
std::string Text(const char* format, Values... values) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

std::string PoliciesOf(const FlsmShape& shape) {
  std::string text = "K =";
  for (int level = 1; level <= shape.LevelsInUse(); ++level) {
    text += " " + std::to_string(shape.Policy(level));
  }
  return text;
}

}  // namespace

WorkloadSigns CostDecider::SignsOf(const FlsmMission& mission) const {
  const FlsmStatistics& statistics = mission.statistics;
  const auto lookups = static_cast<double>(statistics.lookups);
  const auto scans = static_cast<double>(statistics.iterators);
  const double operations = std::max(1.0, lookups + scans + static_cast<double>(statistics.entries_written));
  WorkloadSigns signs{(lookups + scans) / operations, scans / operations, 0, 0};
  // A flush more keeps the logarithm of a mission without one finite, and levels out that flushes are whole.
  const auto flush = static_cast<double>(mission.shape.Incoming(1));
  signs.log_bytes_per_operation =
      std::log((static_cast<double>(statistics.flushed_bytes) + flush) / operations);
  if (before_ && lookups > 0 && age_ > 0) {
    const int levels = mission.shape.LevelsInUse();
    const CostPrices prices = estimator_.Prices(levels);
    double predicted_ns = 0;
    double measured_ns = 0;
    for (int level = 1; level <= levels; ++level) {
      predicted_ns += prices.vain_ns[static_cast<std::size_t>(level) - 1].value * lookups *
                      MeanRuns(mission, *before_, level);
      measured_ns += VainNs(statistics, level);
    }
    signs.log_vain_reads = predicted_ns > 0 && measured_ns > 0 ? std::log(measured_ns / predicted_ns) : 0;
  }
  return signs;
}

void CostDecider::Observe(const FlsmMission& mission) {
  const FlsmStatistics& statistics = mission.statistics;
  const uint64_t operations = statistics.lookups + statistics.iterators + statistics.entries_written;
  if (log_.empty() || log_.back().observed_missions >= kMaxObserved || operations == 0) {
    return;
  }
  CostDecision& latest = log_.back();
  const double cost_ns = static_cast<double>(statistics.busy_ns) / static_cast<double>(operations);
  latest.observed_missions += 1;
  latest.observed_ns += (cost_ns - latest.observed_ns) / latest.observed_missions;
}

CostSnapshot CostDecider::SnapshotOf(const FlsmShape& shape) const {
  const uint64_t flush_bytes = options_.flush_bytes > 0 ? options_.flush_bytes : shape.Incoming(1);
  return {shape, estimator_.Prices(shape.LevelsInUse()), estimator_.workload(),
          std::max<uint64_t>(1, flush_bytes), HasTrivialMove()};
}

void CostDecider::Log(CostDecision decision) {
  log_.push_back(std::move(decision));
  if (log_.size() > kMaxLog) {
    log_.pop_front();
  }
}

std::vector<FlsmPolicyChange> CostDecider::Plan(const FlsmMission& mission, int first) {
  CostSnapshot snapshot = SnapshotOf(mission.shape);
  const double min_gain_ns = kMinGain * (estimator_.OtherNs() + PredictedCost(snapshot, options_.horizon));
  const bool is_late = age_ >= kSettlesAfter;
  const bool is_last = is_late && (snapshot.workload.flushed_bytes == 0 || IsKnown(snapshot.prices.byte_ns));
  CostDecision decision{mission.number, "", {}, "", 0, 0, 0};
  double gain_ns = 0;
  double variance = 0;
  for (const LevelPlan& plan : PlanPolicies(snapshot, options_.horizon)) {
    const bool is_certain = plan.gain_ns() > kCertain * plan.deviation_ns;
    if (plan.level < first || plan.policy == plan.present || plan.gain_ns() < min_gain_ns ||
        std::isinf(plan.deviation_ns) || (is_late && !is_certain)) {
      continue;
    }
    decision.changes.push_back({plan.level, plan.policy});
    gain_ns += plan.gain_ns();
    variance += plan.deviation_ns * plan.deviation_ns;
  }
  planned_levels_ = mission.shape.LevelsInUse();
  for (const FlsmPolicyChange& change : decision.changes) {
    SetPolicy(&snapshot.shape, change.level, change.policy, change.transition);
  }
  const double deviation_ns = std::sqrt(variance);
  if (!decision.changes.empty()) {
    decision.what = gain_ns > kCertain * deviation_ns ? "change" : "probe";
    decision.why = Text("%s gains %.3g +- %.2g ns per operation", PoliciesOf(snapshot.shape).c_str(), gain_ns,
                        deviation_ns);
  } else if (is_last && first == 1) {
    decision.what = "settled";
    decision.why = PoliciesOf(snapshot.shape) + " within the uncertainty of the least cost";
  }
  if (!decision.what.empty()) {
    const CostHorizon until_next{is_late ? kMaxObserved : static_cast<double>(age_),
                                 std::numeric_limits<double>::infinity()};
    decision.predicted_ns = estimator_.OtherNs() + PredictedCost(snapshot, until_next);
    Log(decision);
  }
  before_ = std::move(snapshot.shape);
  settled_ = settled_ || is_last;
  return decision.changes;
}

std::vector<FlsmPolicyChange> CostDecider::Decide(const FlsmMission& mission) {
  if (!before_) {
    before_ = mission.shape;
  }
  Observe(mission);
  if (const std::optional<std::string> why = detector_.Add(SignsOf(mission))) {
    estimator_.BeginWorkload();
    age_ = 0;
    settled_ = false;
    Log({mission.number, "workload", {}, *why, 0, 0, 0});
  }
  if (detector_.LastIsOdd()) {
    // Perhaps the first mission of another workload, from which nothing is learned about this one.
    before_ = mission.shape;
    return {};
  }
  estimator_.Add(mission, *before_);
  before_ = mission.shape;
  ++age_;
  if (!settled_ && IsDue(age_)) {
    return Plan(mission, 1);
  }
  if (settled_ && mission.shape.LevelsInUse() > planned_levels_) {
    return Plan(mission, planned_levels_ + 1);
  }
  return {};
}

}  // namespace rocktune
