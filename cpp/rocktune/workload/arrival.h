#pragma once

#include <cstdint>

#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// The intended start times of a session's operations. Operation n of all threads together (n = 0, 1, ...)
// starts when the integral of the rate, from the session's beginning, reaches n. Immutable, hence
// thread-safe.
class Arrival {
 public:
  // REQUIRES: a spec that WorkloadSpecFromJson accepts.
  explicit Arrival(const ArrivalSpec& spec);

  // True if each operation starts when the thread's previous one ends (a closed loop). The functions below
  // then must not be called.
  bool closed() const { return kind_ == Kind::kClosed; }
  // Returns the number of operations in the session's first `seconds`, with its fraction.
  double OperationsUntil(double seconds) const;
  // Returns the start time of an operation, in seconds from the session's beginning. It is the inverse of
  // OperationsUntil; `operation` may have a fraction.
  double SecondsOf(double operation) const;

 private:
  enum class Kind { kClosed, kFixedRate, kSine, kBursts };

  // The two functions above, but from the beginning of the period in which the session begins.
  double OperationsFromPeriod(double seconds) const;
  double SecondsFromPeriod(double operation) const;
  // The two functions above for a sine, within one period.
  double SineOperations(double seconds) const;
  double SineSeconds(double operations) const;

  Kind kind_;
  double rate_, amplitude_, period_s_, on_s_, phase_s_;
  double operations_per_period_;
  double phase_operations_;  // operations between the beginnings of the period and of the session
};

}  // namespace rocktune
