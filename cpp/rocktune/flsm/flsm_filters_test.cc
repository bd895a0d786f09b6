#include "rocktune/flsm/flsm_filters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace rocktune {
namespace {

constexpr FlsmFilters::Scheme kMonkey = FlsmFilters::Scheme::kMonkey;

// Returns the memory of all filters, in bits per key of level 1.
double Memory(const std::vector<double>& bits, int size_ratio) {
  double sum = 0;
  for (std::size_t level = 0; level < bits.size(); ++level) {
    sum += bits[level] * std::pow(size_ratio, static_cast<double>(level));
  }
  return sum;
}

TEST(FlsmFiltersTest, FalsePositiveRateFollowsTheFormula) {
  EXPECT_DOUBLE_EQ(FalsePositiveRate(0), 1);
  EXPECT_NEAR(FalsePositiveRate(1 / 0.480453013918), 1 / std::exp(1), 1e-9);
  EXPECT_NEAR(FalsePositiveRate(8), 0.02142, 1e-5);
  EXPECT_NEAR(FalsePositiveRate(10), 0.008192, 1e-6);
}

TEST(FlsmFiltersTest, UniformHasTheSameBitsAtEachLevel) {
  EXPECT_EQ(BitsPerKey({8, FlsmFilters::Scheme::kUniform}, 10, 3), std::vector<double>({8, 8, 8}));
}

TEST(FlsmFiltersTest, MonkeysRatesGrowByTheSizeRatio) {
  // T = 10, two levels with 1 and 10 units of keys. The levels differ by ln 10 / (ln 2)^2 = 4.7925 bits per
  // key; the memory of 11 * 4 = b + 10 (b - 4.7925) gives b = 8.3568.
  const std::vector<double> two = BitsPerKey({4, kMonkey}, 10, 2);
  EXPECT_NEAR(two[0], 8.3568, 1e-4);
  EXPECT_NEAR(two[1], 3.5643, 1e-4);
  const std::vector<double> four = BitsPerKey({4, kMonkey}, 10, 4);
  for (std::size_t level = 1; level < four.size(); ++level) {
    EXPECT_NEAR(FalsePositiveRate(four[level]) / FalsePositiveRate(four[level - 1]), 10, 1e-9);
  }
  EXPECT_NEAR(Memory(four, 10), 4 * 1111, 1e-9);
}

TEST(FlsmFiltersTest, MonkeyGivesTheDeepestLevelNothingIfMemoryIsShort) {
  // 0.1 bits for 11 keys are 1.1 bits. Spread over both levels, level 2 would have fewer than 0.
  const std::vector<double> bits = BitsPerKey({0.1, kMonkey}, 10, 2);
  EXPECT_NEAR(bits[0], 1.1, 1e-12);
  EXPECT_EQ(bits[1], 0);
  EXPECT_EQ(BitsPerKey({0, kMonkey}, 10, 2), std::vector<double>({0, 0}));
}

TEST(FlsmFiltersTest, MonkeyReadsLessForAbsentKeys) {
  const auto reads = [](const std::vector<double>& bits) {
    double sum = 0;
    for (const double each : bits) {
      sum += FalsePositiveRate(each);
    }
    return sum;
  };
  EXPECT_LT(reads(BitsPerKey({4, kMonkey}, 10, 4)), 0.5 * reads(BitsPerKey({4, {}}, 10, 4)));
}

}  // namespace
}  // namespace rocktune
