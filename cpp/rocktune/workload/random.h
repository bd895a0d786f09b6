#pragma once

#include <array>
#include <cstdint>

namespace rocktune {

// Returns a hash of `x`: a bijection of 64-bit integers in which each input bit affects all output bits (the
// finalizer of splitmix64).
inline uint64_t Mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// A fast generator of random numbers (xoshiro256++). Equal seeds give equal sequences on every machine,
// unlike with the distributions of <random>. Not thread-safe.
class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15ULL;
      word = Mix64(seed);
    }
  }

  // Returns a number that is uniform over all 64-bit integers.
  uint64_t Next() {
    const uint64_t result = Rotated(state_[0] + state_[3], 23) + state_[0];
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = Rotated(state_[3], 45);
    return result;
  }

  // Returns a number that is uniform in [0, 1), with 53 random bits.
  double NextDouble() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

  // Returns an integer in [0, bound) that is uniform up to a bias of bound / 2^64. REQUIRES: bound > 0.
  uint64_t Below(uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>(Next()) * bound) >> 64);
  }

 private:
  static uint64_t Rotated(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

  std::array<uint64_t, 4> state_;
};

}  // namespace rocktune
