#pragma once

#include <cstdint>

#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// When the operations of a session should start. Operation n of all threads together (n = 0, 1, ...) starts
// when the rate, integrated from the session's beginning, reaches n. Immutable, hence thread-safe.
class Arrival {
 public:
  // REQUIRES: a spec that WorkloadSpecFromJson accepts.
  explicit Arrival(const ArrivalSpec& spec);

  // Operations start when those before them end; the other two functions may not be called.
  bool closed() const { return kind_ == Kind::kClosed; }
  // The expected number of operations in the session's first `seconds`.
  double OperationsUntil(double seconds) const;
  // The inverse: seconds from the session's beginning. `operation` need not be whole.
  double SecondsOf(double operation) const;

 private:
  enum class Kind { kClosed, kFixedRate, kSine, kBursts };

  // The same from the beginning of a period.
  double OperationsFromPeriod(double seconds) const;
  double SecondsFromPeriod(double operation) const;
  double SineOperations(double seconds) const;
  double SineSeconds(double operations) const;

  Kind kind_;
  double rate_, amplitude_, period_s_, on_s_, phase_s_;
  double operations_per_period_;
  double phase_operations_;  // from the period's beginning to the session's
};

}  // namespace rocktune
