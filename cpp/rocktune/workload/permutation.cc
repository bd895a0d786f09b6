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
    multiplier = random.Next() | 1;  // odd, hence invertible modulo a power of 2
  }
  for (uint64_t& addition : additions_) {
    addition = random.Next();
  }
}

uint64_t Permutation::operator()(uint64_t index) const {
  // Each step of a round is a bijection of 0 .. mask_. A result outside 0 .. size - 1 is mapped again until
  // it falls inside, which keeps the whole a bijection and takes less than two turns on average.
  do {
    for (int round = 0; round < kRounds; ++round) {
      index = ((index + additions_[round]) * multipliers_[round]) & mask_;
      index ^= index >> shift_;
    }
  } while (index >= size_);
  return index;
}

}  // namespace rocktune
