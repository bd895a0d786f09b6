#include "rocktune/workload/size_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rocktune {
namespace {

constexpr int kDraws = 500'000;

std::vector<uint64_t> Draws(const SizeSpec& spec) {
  const SizeSource source(spec);
  Random random(11);
  std::vector<uint64_t> sizes(kDraws);
  std::generate(sizes.begin(), sizes.end(), [&] { return source.Next(&random); });
  return sizes;
}

double Mean(const std::vector<uint64_t>& sizes) {
  double sum = 0;
  for (uint64_t size : sizes) {
    sum += static_cast<double>(size);
  }
  return sum / static_cast<double>(sizes.size());
}

SizeSpec Pareto(double k, double sigma, double theta, uint64_t high) {
  return {.kind = "pareto", .low = 0, .high = high, .k = k, .sigma = sigma, .theta = theta};
}

TEST(SizeSourceTest, FixedReturnsLow) {
  const SizeSource source({.kind = "fixed", .low = 400, .high = 0});
  Random random(1);
  EXPECT_EQ(source.Next(&random), 400U);
  EXPECT_EQ(source.max_size(), 400U);
}

TEST(SizeSourceTest, UniformIncludesBothEnds) {
  const std::vector<uint64_t> sizes = Draws({.kind = "uniform", .low = 1, .high = 100});
  EXPECT_EQ(*std::min_element(sizes.begin(), sizes.end()), 1U);
  EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), 100U);
  EXPECT_NEAR(Mean(sizes), 50.5, 0.2);
}

TEST(SizeSourceTest, ParetoHasTheExpectedMean) {
  // The mean of the generalized Pareto distribution is theta + sigma / (1 - k) = 10 + 100 / 0.8 = 135;
  // rounding up adds about a half. Sizes above 10^6 have the probability (1 + 0.2 * 10^4)^-5 = 3e-17.
  EXPECT_NEAR(Mean(Draws(Pareto(0.2, 100, 10, 1'000'000))), 135.5, 1.0);
}

TEST(SizeSourceTest, ParetoWithShapeZeroIsExponential) {
  const std::vector<uint64_t> sizes = Draws(Pareto(0, 100, 0, 100'000));
  EXPECT_NEAR(Mean(sizes), 100.5, 0.6);
  // P(size > 100) = e^-1.
  const auto above = std::count_if(sizes.begin(), sizes.end(), [](uint64_t size) { return size > 100; });
  EXPECT_NEAR(static_cast<double>(above) / kDraws, 0.367879, 0.003);
}

TEST(SizeSourceTest, ParetoWrapsAroundAboveHigh) {
  // Mixgraph's scan lengths: k 2.517, sigma 14.236. P(size <= 10) = 1 - (1 + 2.517 * 10 / 14.236)^(-1/2.517)
  // = 1 - 2.76805^-0.397298 = 1 - 0.667311 = 0.332689. Of the 5.13% above 10,000 hardly any wrap to 10 or
  // less.
  const std::vector<uint64_t> sizes = Draws(Pareto(2.517, 14.236, 0, 10'000));
  const auto small = std::count_if(sizes.begin(), sizes.end(), [](uint64_t size) { return size <= 10; });
  EXPECT_NEAR(static_cast<double>(small) / kDraws, 0.3327, 0.003);
  EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), 10'000U);
  // The upper half has its own share, 0.0669 - 0.0513, and half of the 5.13% that wrap around almost evenly.
  const auto large = std::count_if(sizes.begin(), sizes.end(), [](uint64_t size) { return size > 5000; });
  EXPECT_NEAR(static_cast<double>(large) / kDraws, 0.0257 + 0.0161, 0.005);
}

}  // namespace
}  // namespace rocktune
