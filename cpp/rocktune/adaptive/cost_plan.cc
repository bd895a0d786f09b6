#include "rocktune/cost_plan.h"

#include <cmath>

#include "rocktune/adaptive/level_forecast.h"

namespace rocktune {
namespace {

// The work of one level until a horizon, and its price.
struct LevelWork {
  const CostSnapshot& snapshot;
  const CostHorizon& horizon;
  int level;

  // Returns the price of a run for a mission.
  double RunNs() const {
    return snapshot.workload.lookups * Vain().value + snapshot.workload.scans * snapshot.prices.scan_ns.value;
  }
  // Returns the divisor of sums until the horizon that makes them costs per operation.
  double Operations() const { return snapshot.workload.operations() * horizon.Weight(0, horizon.missions); }

  double CostNs(const LevelForecast& work) const {
    return (work.runs * RunNs() + work.moved_bytes * snapshot.prices.byte_ns.value) / Operations();
  }
  // Returns the standard error of the difference between two costs. The prices are taken as independent.
  double DeviationNs(const LevelForecast& one, const LevelForecast& other) const {
    const double runs = one.runs - other.runs;
    const auto error = [](double amount, const CostEstimate& price) {
      return amount == 0 ? 0 : amount * price.deviation;
    };
    const double lookups = error(runs * snapshot.workload.lookups, Vain());
    const double scans = error(runs * snapshot.workload.scans, snapshot.prices.scan_ns);
    const double merges = error(one.moved_bytes - other.moved_bytes, snapshot.prices.byte_ns);
    return std::sqrt(lookups * lookups + scans * scans + merges * merges) / Operations();
  }

  const CostEstimate& Vain() const { return snapshot.prices.vain_ns[static_cast<std::size_t>(level) - 1]; }
};

// Calls `use(work, arrivals, moves)` for each level in use, from level 1 on. `use` returns K of the level.
template <typename Use>
void ForEachLevel(const CostSnapshot& snapshot, const CostHorizon& horizon, const Use& use) {
  Arrivals arrivals = FlushArrivals(snapshot.flush_bytes, snapshot.workload.flushed_bytes);
  int above = 1;  // runs that arrive at once
  for (int level = 1; level <= snapshot.shape.LevelsInUse(); ++level) {
    above = use(LevelWork{snapshot, horizon, level}, arrivals, snapshot.moves && above == 1);
    arrivals = PushArrivals(snapshot.shape, level, arrivals);
  }
}

}  // namespace

std::vector<LevelPlan> PlanPolicies(const CostSnapshot& snapshot, const CostHorizon& horizon) {
  std::vector<LevelPlan> plans;
  ForEachLevel(snapshot, horizon, [&](const LevelWork& work, const Arrivals& arrivals, bool moves) {
    const int present = snapshot.shape.Policy(work.level);
    const auto forecast = [&](int policy) {
      return ForecastLevel(snapshot.shape, work.level, policy, arrivals, horizon, moves);
    };
    const LevelForecast unchanged = forecast(present);
    LevelPlan plan{work.level, present, present, work.CostNs(unchanged), work.CostNs(unchanged), 0};
    for (int policy = 1; policy <= snapshot.shape.size_ratio; ++policy) {
      const LevelForecast changed = forecast(policy);
      if (const double cost_ns = work.CostNs(changed); cost_ns < plan.policy_ns) {
        plan.policy = policy;
        plan.policy_ns = cost_ns;
        plan.deviation_ns = work.DeviationNs(unchanged, changed);
      }
    }
    plans.push_back(plan);
    return plan.policy;
  });
  return plans;
}

double PredictedCost(const CostSnapshot& snapshot, const CostHorizon& horizon) {
  double cost_ns = 0;
  ForEachLevel(snapshot, horizon, [&](const LevelWork& work, const Arrivals& arrivals, bool moves) {
    const int policy = snapshot.shape.Policy(work.level);
    cost_ns += work.CostNs(ForecastLevel(snapshot.shape, work.level, policy, arrivals, horizon, moves));
    return policy;
  });
  return cost_ns;
}

}  // namespace rocktune
