#include "rocktune/workload/arrival.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rocktune {

Arrival::Arrival(const ArrivalSpec& spec)
    : kind_(spec.kind == "closed" || spec.kind == "recorded" ? Kind::kClosed
            : spec.kind == "fixed_rate"                      ? Kind::kFixedRate
            : spec.kind == "sine"                            ? Kind::kSine
                                                             : Kind::kBursts),
      rate_(spec.operations_s),
      amplitude_(spec.amplitude_operations_s),
      period_s_(spec.period_s),
      on_s_(spec.on_s),
      phase_s_(spec.phase_s),
      operations_per_period_(rate_ * (kind_ == Kind::kBursts ? on_s_ : period_s_)),
      phase_operations_(phase_s_ == 0 ? 0 : OperationsFromPeriod(phase_s_)) {}

double Arrival::OperationsUntil(double seconds) const {
  return OperationsFromPeriod(phase_s_ + seconds) - phase_operations_;
}

double Arrival::SecondsOf(double operation) const {
  return SecondsFromPeriod(operation + phase_operations_) - phase_s_;
}

double Arrival::OperationsFromPeriod(double seconds) const {
  if (kind_ == Kind::kFixedRate) {
    return rate_ * seconds;
  }
  const double periods = std::floor(seconds / period_s_);
  const double rest_s = seconds - periods * period_s_;
  const double rest = kind_ == Kind::kSine ? SineOperations(rest_s) : rate_ * std::min(rest_s, on_s_);
  return periods * operations_per_period_ + rest;
}

double Arrival::SecondsFromPeriod(double operation) const {
  if (kind_ == Kind::kFixedRate) {
    return operation / rate_;
  }
  const double periods = std::floor(operation / operations_per_period_);
  // Rounding may leave the difference slightly below 0.
  const double rest = std::max(0.0, operation - periods * operations_per_period_);
  return periods * period_s_ + (kind_ == Kind::kSine ? SineSeconds(rest) : rest / rate_);
}

// The integral of rate + amplitude * sin(2 pi t / period) over t from 0 to `seconds`.
double Arrival::SineOperations(double seconds) const {
  const double angular = 2 * std::numbers::pi / period_s_;
  return rate_ * seconds + amplitude_ / angular * (1 - std::cos(angular * seconds));
}

// Inverts SineOperations by Newton's method, with bisection for steps that would leave the bracket: where the
// rate is almost 0, Newton's steps are too large.
double Arrival::SineSeconds(double operations) const {
  // Newton's error is about the square of the last step, bisection's is the step itself.
  const double small_step_s = 1e-8 * period_s_;
  const double angular = 2 * std::numbers::pi / period_s_;
  double low = 0, high = period_s_, seconds = operations / rate_;
  for (double step_s = period_s_; std::abs(step_s) > small_step_s && high - low > 1e-12 * period_s_;) {
    const double error = SineOperations(seconds) - operations;
    (error > 0 ? high : low) = seconds;
    const double next = seconds - error / (rate_ + amplitude_ * std::sin(angular * seconds));
    const double chosen = next >= low && next <= high ? next : (low + high) / 2;
    step_s = chosen - seconds;
    seconds = chosen;
  }
  return seconds;
}

}  // namespace rocktune
