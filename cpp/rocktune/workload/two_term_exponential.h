#pragma once

#include <cstdint>
#include <vector>

#include "rocktune/workload/key_chooser.h"

namespace rocktune {

// The distribution of keys in db_bench's mixgraph (Cao et al., "Characterizing, modeling, and benchmarking
// RocksDB key-value workloads at Facebook", FAST 2020).
//
// The key space is cut into ranges. The i-th hottest range, i from 1, has the weight a*exp(b*i) + c*exp(d*i);
// negative weights count as 0. If no weight is above 0, all ranges are equally likely. The ranges lie in a
// pseudo-random order in the key space. Within a range, a key's rank x is drawn with the cumulative
// probability key_a * x^key_b and hashed to a place; keys are uniform if both parameters are 0.
//
// It differs from db_bench in two points: weights are not rounded to integers, and every key is in a range.
// Immutable, hence thread-safe.
class TwoTermExponentialChooser final : public KeyChooser {
 public:
  // Throws std::invalid_argument if the sum of the weights is not finite. REQUIRES: 0 < spec.ranges <= keys.
  TwoTermExponentialChooser(const KeyChooserSpec& spec, uint64_t keys);

  uint64_t Next(Random* random, uint64_t key_count) const override;

  // Returns the share of operations in the range at `place`, counted from the lowest keys.
  double RangeShare(uint64_t place) const;

 private:
  uint64_t OffsetWithinRange(Random* random, uint64_t range_keys) const;

  uint64_t keys_;
  double key_a_;
  double key_b_;
  std::vector<double> cumulative_shares_;  // by the place of the range
};

}  // namespace rocktune
