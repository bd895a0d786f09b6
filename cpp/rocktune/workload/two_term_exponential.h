#pragma once

#include <cstdint>
#include <vector>

#include "rocktune/workload/key_chooser.h"

namespace rocktune {

// The key law of db_bench's mixgraph (Cao et al., "Characterizing, modeling, and benchmarking RocksDB
// key-value workloads at Facebook", FAST 2020): the key space is cut into ranges, the i-th hottest of which
// has the weight a*exp(b*i) + c*exp(d*i), i from 1, negative weights counting as 0; hot ranges lie anywhere
// in the key space. Within its range the rank x of a key is drawn from the law whose cumulative share is
// key_a * x^key_b, and ranks are hashed to places; uniform when both are 0.
//
// Two differences from db_bench: weights are not rounded to integers, and every key belongs to a range. When
// no weight is above 0 all ranges are alike.
class TwoTermExponentialChooser final : public KeyChooser {
 public:
  // REQUIRES: 0 < spec.ranges <= keys. Throws std::invalid_argument when the weights overflow.
  TwoTermExponentialChooser(const KeyChooserSpec& spec, uint64_t keys);

  uint64_t Next(Random* random, uint64_t key_count) const override;

  // The share of operations that goes to the range at `place`, counted from the lowest keys.
  double RangeShare(uint64_t place) const;

 private:
  uint64_t PlaceWithinRange(Random* random, uint64_t range_keys) const;

  uint64_t keys_;
  double key_a_;
  double key_b_;
  std::vector<double> cumulative_shares_;  // by place
};

}  // namespace rocktune
