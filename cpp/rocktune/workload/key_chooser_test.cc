#include "rocktune/workload/key_chooser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "rocktune/workload/two_term_exponential.h"
#include "rocktune/workload/zipf.h"

namespace rocktune {
namespace {

KeyChooserSpec Spec(const std::string& kind, double skew = 0) {
  KeyChooserSpec spec;
  spec.kind = kind;
  spec.skew = skew;
  return spec;
}

// Returns each key's share of `draws` operations, with `keys_now` keys at present.
std::vector<double> KeyShares(const KeyChooserSpec& spec, uint64_t keys, int draws, uint64_t keys_now) {
  const auto chooser = NewKeyChooser(spec, keys);
  Random random(5);
  std::vector<double> shares(keys_now);
  for (int i = 0; i < draws; ++i) {
    shares.at(chooser->Next(&random, keys_now)) += 1.0 / draws;
  }
  return shares;
}

TEST(KeyChooserTest, UniformKeysAreEquallyLikely) {
  for (double share : KeyShares(Spec("uniform"), 20, 1'000'000, 20)) {
    EXPECT_NEAR(share, 0.05, 0.001);
  }
}

TEST(KeyChooserTest, ZipfianHeatsTheFirstKeys) {
  const std::vector<double> shares = KeyShares(Spec("zipfian", 0.9), 1000, 500'000, 1000);
  EXPECT_NEAR(shares[0], 1 / ZipfSum(1000, 0.9), 0.002);
  EXPECT_GT(shares[0], shares[1]);
  EXPECT_GT(shares[1], shares[10]);
  EXPECT_GT(shares[10], shares[500]);
}

TEST(KeyChooserTest, ScrambledZipfianPermutesTheShares) {
  std::vector<double> plain = KeyShares(Spec("zipfian", 0.9), 1000, 500'000, 1000);
  std::vector<double> scrambled = KeyShares(Spec("scrambled_zipfian", 0.9), 1000, 500'000, 1000);
  EXPECT_NE(plain, scrambled);
  std::sort(plain.begin(), plain.end());
  std::sort(scrambled.begin(), scrambled.end());
  // The seed is the same and the permutation draws no random number, so the counts are equal.
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_DOUBLE_EQ(plain[i], scrambled[i]);
  }
}

TEST(KeyChooserTest, ScrambledZipfianSpreadsTheHotKeys) {
  // Each half of the key space has some of the ten hottest of 100,000 keys.
  const std::vector<double> shares = KeyShares(Spec("scrambled_zipfian", 0.99), 100'000, 500'000, 100'000);
  std::vector<std::size_t> keys(shares.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = i;
  }
  std::partial_sort(keys.begin(), keys.begin() + 10, keys.end(),
                    [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  const auto in_lower_half =
      std::count_if(keys.begin(), keys.begin() + 10, [](std::size_t key) { return key < 50'000; });
  EXPECT_GE(in_lower_half, 1);
  EXPECT_LE(in_lower_half, 9);
}

TEST(KeyChooserTest, TrueZipfAllowsExponentsAboveOne) {
  const std::vector<double> shares = KeyShares(Spec("true_zipf", 2), 1000, 500'000, 1000);
  // Sum of i^-2 up to 1,000: pi^2 / 6 - 1 / 1000.5 = 1.64393.
  EXPECT_NEAR(shares[0], 1 / 1.64393, 0.003);
  EXPECT_NEAR(shares[1], 0.25 / 1.64393, 0.003);
}

TEST(KeyChooserTest, HotspotGivesTheHotKeysTheirShare) {
  const std::vector<double> shares = KeyShares(Spec("hotspot"), 100, 1'000'000, 100);
  double hot = 0;
  for (std::size_t key = 0; key < 20; ++key) {
    hot += shares[key];
  }
  EXPECT_NEAR(hot, 0.8, 0.002);
  EXPECT_NEAR(shares[0], 0.8 / 20, 0.001);
  EXPECT_NEAR(shares[99], 0.2 / 80, 0.0005);
}

TEST(KeyChooserTest, HotspotOfAllKeysIsUniform) {
  KeyChooserSpec spec = Spec("hotspot");
  spec.hot_key_share = 1;
  spec.hot_operation_share = 0.1;
  for (double share : KeyShares(spec, 10, 500'000, 10)) {
    EXPECT_NEAR(share, 0.1, 0.002);
  }
}

TEST(KeyChooserTest, LatestFollowsTheNewestKey) {
  const std::vector<double> shares = KeyShares(Spec("latest", 0.9), 1000, 500'000, 1200);
  EXPECT_NEAR(shares[1199], 1 / ZipfSum(1000, 0.9), 0.002);
  EXPECT_NEAR(shares[1198], std::pow(2, -0.9) / ZipfSum(1000, 0.9), 0.002);
  // The newest 1,000 keys are drawn, and the 200 oldest never.
  for (std::size_t key = 0; key < 200; ++key) {
    EXPECT_EQ(shares[key], 0);
  }
}

TEST(KeyChooserTest, AllKindsWorkWithASingleKey) {
  for (const char* kind : {"uniform", "zipfian", "scrambled_zipfian", "true_zipf", "hotspot", "latest",
                           "two_term_exponential"}) {
    EXPECT_EQ(KeyShares(Spec(kind, 0.5), 1, 100, 1).size(), 1U) << kind;
  }
}

KeyChooserSpec TwoTerms() {
  KeyChooserSpec spec = Spec("two_term_exponential");
  spec.ranges = 4;
  spec.range_a = 1;
  spec.range_b = -1;
  spec.range_c = 0.1;
  spec.range_d = -0.1;
  return spec;
}

TEST(TwoTermExponentialTest, SharesOfRangesFollowTheirWeights) {
  // e^-i + 0.1 e^(-0.1 i) for i = 1 .. 4: 0.3678794 + 0.0904837 = 0.4583631; 0.1353353 + 0.0818731 =
  // 0.2172084; 0.0497871 + 0.0740818 = 0.1238689; 0.0183156 + 0.0670320 = 0.0853476; sum 0.8847880.
  const TwoTermExponentialChooser chooser(TwoTerms(), 1000);
  std::vector<double> shares;
  for (uint64_t place = 0; place < 4; ++place) {
    shares.push_back(chooser.RangeShare(place));
  }
  std::sort(shares.rbegin(), shares.rend());
  EXPECT_NEAR(shares[0], 0.518048, 1e-5);
  EXPECT_NEAR(shares[1], 0.245492, 1e-5);
  EXPECT_NEAR(shares[2], 0.139998, 1e-5);
  EXPECT_NEAR(shares[3], 0.096461, 1e-5);
}

TEST(TwoTermExponentialTest, DrawsFollowTheSharesOfRanges) {
  // 10 keys in 4 ranges of 3, 3, 2 and 2 keys; uniform within a range.
  const TwoTermExponentialChooser chooser(TwoTerms(), 10);
  const std::vector<double> shares = KeyShares(TwoTerms(), 10, 1'000'000, 10);
  EXPECT_NEAR(shares[0], chooser.RangeShare(0) / 3, 0.002);
  EXPECT_NEAR(shares[3], chooser.RangeShare(1) / 3, 0.002);
  EXPECT_NEAR(shares[6], chooser.RangeShare(2) / 2, 0.002);
  EXPECT_NEAR(shares[9], chooser.RangeShare(3) / 2, 0.002);
}

TEST(TwoTermExponentialTest, PowerLawHeatsFewKeysOfARange) {
  KeyChooserSpec spec = Spec("two_term_exponential");
  spec.key_a = 0.1;
  spec.key_b = 0.5;
  std::vector<double> shares = KeyShares(spec, 100'000, 500'000, 100'000);
  std::sort(shares.rbegin(), shares.rend());
  // Rank 1 has the share 0.1 * 1^0.5 = 0.1, rank 2 has 0.1 * (sqrt(2) - 1) = 0.0414. The
  // shares of the first (1 / 0.1)^2 = 100 ranks sum to 1.
  EXPECT_NEAR(shares[0], 0.1, 0.002);
  EXPECT_NEAR(shares[1], 0.0414, 0.002);
  EXPECT_EQ(shares[100], 0);
}

TEST(TwoTermExponentialTest, RefusesWeightsThatOverflow) {
  KeyChooserSpec spec = TwoTerms();
  spec.range_b = 1000;
  EXPECT_THROW(NewKeyChooser(spec, 1000), std::invalid_argument);
}

}  // namespace
}  // namespace rocktune
