#pragma once

#include <cstdint>

#include "rocktune/workload/random.h"
#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// A distribution of sizes, of values in bytes or of scans in entries. Immutable, hence thread-safe; the
// random generator is the caller's.
class SizeSource {
 public:
  // REQUIRES: a spec that WorkloadSpecFromJson accepts.
  explicit SizeSource(const SizeSpec& spec);

  // Returns a random size.
  uint64_t Next(Random* random) const;
  // Returns the maximum size that Next can return.
  uint64_t max_size() const { return high_; }

 private:
  enum class Kind { kFixed, kUniform, kPareto };

  uint64_t Pareto(Random* random) const;

  Kind kind_;
  uint64_t low_;
  uint64_t high_;
  double k_, sigma_, theta_;
};

}  // namespace rocktune
