#pragma once

#include <array>
#include <cstdint>

namespace rocktune {

// A pseudo-random permutation of 0 .. size - 1, computed without a table. Immutable, hence thread-safe.
class Permutation {
 public:
  // Equal sizes and seeds give equal permutations. REQUIRES: 0 < size < 2^62.
  Permutation(uint64_t size, uint64_t seed);

  // Returns the image of `index`. REQUIRES: index < size.
  uint64_t operator()(uint64_t index) const;

 private:
  static constexpr int kRounds = 4;

  uint64_t size_;
  uint64_t mask_ = 0;  // the smallest 2^bits - 1 that is at least size - 1
  int shift_ = 1;
  std::array<uint64_t, kRounds> multipliers_;
  std::array<uint64_t, kRounds> additions_;
};

}  // namespace rocktune
