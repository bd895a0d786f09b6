#pragma once

#include <cstdint>

#include "rocktune/workload/random.h"
#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// Draws sizes. Immutable, hence thread-safe.
class SizeSource {
 public:
  // REQUIRES: a spec that WorkloadSpecFromJson accepts.
  explicit SizeSource(const SizeSpec& spec);

  uint64_t Next(Random* random) const;
  // The largest size that Next returns.
  uint64_t largest() const { return high_; }

 private:
  enum class Kind { kFixed, kUniform, kPareto };

  uint64_t Pareto(Random* random) const;

  Kind kind_;
  uint64_t low_;
  uint64_t high_;
  double k_, sigma_, theta_;
};

}  // namespace rocktune
