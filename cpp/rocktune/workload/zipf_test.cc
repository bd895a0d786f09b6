#include "rocktune/workload/zipf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace rocktune {
namespace {

double SumOfTerms(uint64_t count, double exponent) {
  double sum = 0;
  for (uint64_t i = count; i >= 1; --i) {
    sum += std::pow(static_cast<double>(i), -exponent);
  }
  return sum;
}

template <typename Zipf>
std::vector<double> RankShares(const Zipf& zipf, std::size_t ranks, int draws) {
  Random random(17);
  std::vector<double> shares(ranks);
  for (int i = 0; i < draws; ++i) {
    const uint64_t rank = zipf.Next(&random);
    if (rank < ranks) {
      shares[rank] += 1.0 / draws;
    }
  }
  return shares;
}

TEST(ZipfSumTest, MatchesValuesComputedByHand) {
  EXPECT_DOUBLE_EQ(ZipfSum(1, 0.99), 1);
  // 1 + 1/2 + 1/3 + 1/4 = 25/12.
  EXPECT_DOUBLE_EQ(ZipfSum(4, 1), 25.0 / 12);
  EXPECT_DOUBLE_EQ(ZipfSum(12345, 0), 12345);
  // The harmonic number of a million is ln(10^6) + 0.5772156649 + 1 / (2 * 10^6) = 14.3927267229.
  EXPECT_NEAR(ZipfSum(1'000'000, 1), 14.392726722865, 1e-11);
}

TEST(ZipfSumTest, AgreesWithTheSumOfAllTerms) {
  for (double exponent : {0.0, 0.3, 0.5, 0.9, 0.99, 1.0, 1.2}) {
    for (uint64_t count : {1, 2, 10, 999, 1000, 1001, 5000, 300'000}) {
      const double sum = SumOfTerms(count, exponent);
      EXPECT_NEAR(ZipfSum(count, exponent) / sum, 1, 1e-13) << count << " terms, exponent " << exponent;
    }
  }
}

TEST(GrayZipfTest, TheFirstTwoRanksAreExact) {
  // P(rank i) = (i + 1)^-s / sum. The standard deviation of a share p over a million draws is at most
  // sqrt(p (1 - p) / 10^6) < 0.0005: the bound is four of them.
  for (double skew : {0.3, 0.6, 0.9, 0.99}) {
    const double sum = SumOfTerms(1000, skew);
    const std::vector<double> shares = RankShares(GrayZipf(1000, skew), 2, 1'000'000);
    EXPECT_NEAR(shares[0], 1 / sum, 0.002) << skew;
    EXPECT_NEAR(shares[1], std::pow(2.0, -skew) / sum, 0.002) << skew;
  }
}

TEST(GrayZipfTest, TheFirstHundredthHasTheExpectedShare) {
  // The share of the first hundredth of 100,000 keys is within 1% of that in the exact distribution.
  for (double skew : {0.5, 0.9, 0.99}) {
    double share = 0;
    for (double rank_share : RankShares(GrayZipf(100'000, skew), 1000, 500'000)) {
      share += rank_share;
    }
    EXPECT_NEAR(share, SumOfTerms(1000, skew) / SumOfTerms(100'000, skew), 0.01) << skew;
  }
}

TEST(GrayZipfTest, SkewZeroIsUniform) {
  for (double share : RankShares(GrayZipf(10, 0), 10, 1'000'000)) {
    EXPECT_NEAR(share, 0.1, 0.0015);
  }
}

TEST(GrayZipfTest, StaysInRangeForFewKeys) {
  for (uint64_t count : {1, 2, 3}) {
    const GrayZipf zipf(count, 0.99);
    Random random(3);
    for (int i = 0; i < 10'000; ++i) {
      ASSERT_LT(zipf.Next(&random), count);
    }
  }
}

TEST(ExactZipfTest, TheFirstRanksHaveTheirProbabilities) {
  for (double exponent : {0.5, 0.99, 1.0, 1.5, 3.0}) {
    const double sum = SumOfTerms(1000, exponent);
    const std::vector<double> shares = RankShares(ExactZipf(1000, exponent), 20, 1'000'000);
    for (std::size_t rank = 0; rank < shares.size(); ++rank) {
      const double expected = std::pow(static_cast<double>(rank + 1), -exponent) / sum;
      EXPECT_NEAR(shares[rank], expected, 5 * std::sqrt(expected / 1e6)) << exponent << " rank " << rank;
    }
  }
}

TEST(ExactZipfTest, StaysInRangeForFewKeys) {
  for (uint64_t count : {1, 2, 3}) {
    const ExactZipf zipf(count, 1.2);
    Random random(3);
    for (int i = 0; i < 10'000; ++i) {
      ASSERT_LT(zipf.Next(&random), count);
    }
  }
}

}  // namespace
}  // namespace rocktune
