#include "rocktune/workload/permutation.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace rocktune {
namespace {

TEST(PermutationTest, IsABijection) {
  for (uint64_t size : {1, 2, 3, 4, 5, 100, 1023, 1024, 1025, 50'000}) {
    const Permutation permutation(size, 7);
    std::vector<bool> reached(size);
    for (uint64_t index = 0; index < size; ++index) {
      const uint64_t place = permutation(index);
      ASSERT_LT(place, size);
      ASSERT_FALSE(reached[place]) << size;
      reached[place] = true;
    }
  }
}

TEST(PermutationTest, SpreadsNeighboursOverTheWholeRange) {
  // 1,000 neighbours at random in 10 bins of equal size: 100 in each, with a standard deviation of 9.5.
  constexpr uint64_t kSize = 1'000'000;
  for (uint64_t first : {0, 123'000, 999'000}) {
    const Permutation permutation(kSize, 7);
    std::vector<int> bins(10);
    for (uint64_t index = first; index < first + 1000; ++index) {
      ++bins[permutation(index) / (kSize / 10)];
    }
    for (int count : bins) {
      EXPECT_NEAR(count, 100, 40) << first;
    }
  }
}

TEST(PermutationTest, SeedsGiveDifferentOrders) {
  int equal = 0;
  for (uint64_t index = 0; index < 1000; ++index) {
    equal += Permutation(1'000'000, 1)(index) == Permutation(1'000'000, 2)(index);
  }
  EXPECT_LE(equal, 2);
}

}  // namespace
}  // namespace rocktune
