#include "rocktune/workload/permutation.h"

#include <algorithm>
#include <bit>

#include "rocktune/workload/random.h"

namespace rocktune {

Permutation::Permutation(uint64_t size, uint64_t seed) : size_(size) {
  const int bits = std::bit_width(size - 1);
  mask_ = (uint64_t{1} << bits) - 1;
  shift_ = std::max(1, (bits + 1) / 2);
  Random random(seed);
  for (uint64_t& multiplier : multipliers_) {
    multiplier = random.Next() | 1;
  }
  for (uint64_t& addition : additions_) {
    addition = random.Next();
  }
}

uint64_t Permutation::operator()(uint64_t index) const {
  // Each step of a round is a bijection of the numbers up to mask_; those that fall outside 0 .. size - 1 are
  // mapped on until they fall inside, which takes less than two turns on average.
  do {
    for (int round = 0; round < kRounds; ++round) {
      index = ((index + additions_[round]) * multipliers_[round]) & mask_;
      index ^= index >> shift_;
    }
  } while (index >= size_);
  return index;
}

}  // namespace rocktune
