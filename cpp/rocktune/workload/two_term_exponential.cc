#include "rocktune/workload/two_term_exponential.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "rocktune/workload/permutation.h"

namespace rocktune {

namespace {

constexpr uint64_t kRangeOrderSeed = 0x3d1f9b;  // a constant: the hot ranges do not depend on a run's seed
constexpr double kMaxRank = 0x1.0p62;           // fits into uint64_t

// Returns the weight of each range, by its place. Throws std::invalid_argument if the sum is not finite.
std::vector<double> RangeWeights(const KeyChooserSpec& spec) {
  const Permutation places(spec.ranges, kRangeOrderSeed);
  std::vector<double> weights(spec.ranges);
  double sum = 0;
  for (uint64_t i = 0; i < spec.ranges; ++i) {
    const double order = static_cast<double>(i + 1);
    const double weight =
        spec.range_a * std::exp(spec.range_b * order) + spec.range_c * std::exp(spec.range_d * order);
    sum += weights[places(i)] = std::max(0.0, weight);
  }
  if (!std::isfinite(sum)) {
    throw std::invalid_argument(
        "key_chooser: the weights of range_{a,b,c,d} are not finite; lower range_b and range_d");
  }
  if (sum == 0) {
    weights.assign(weights.size(), 1);
  }
  return weights;
}

}  // namespace

TwoTermExponentialChooser::TwoTermExponentialChooser(const KeyChooserSpec& spec, uint64_t keys)
    : keys_(keys), key_a_(spec.key_a), key_b_(spec.key_b), cumulative_shares_(RangeWeights(spec)) {
  double sum = 0;
  for (double& share : cumulative_shares_) {
    share = sum += share;
  }
  for (double& share : cumulative_shares_) {
    share /= sum;
  }
}

uint64_t TwoTermExponentialChooser::Next(Random* random, uint64_t) const {
  const auto found =
      std::upper_bound(cumulative_shares_.begin(), cumulative_shares_.end(), random->NextDouble());
  const uint64_t range = static_cast<uint64_t>(found - cumulative_shares_.begin());
  const uint64_t ranges = cumulative_shares_.size();
  // The first keys % ranges ranges have one key more than the others.
  const uint64_t shorter = keys_ / ranges, longer_ranges = keys_ % ranges;
  const uint64_t start = range * shorter + std::min(range, longer_ranges);
  return start + OffsetWithinRange(random, shorter + (range < longer_ranges ? 1 : 0));
}

double TwoTermExponentialChooser::RangeShare(uint64_t place) const {
  return cumulative_shares_[place] - (place == 0 ? 0 : cumulative_shares_[place - 1]);
}

uint64_t TwoTermExponentialChooser::OffsetWithinRange(Random* random, uint64_t range_keys) const {
  if (key_a_ == 0) {
    return random->Below(range_keys);
  }
  const double rank = std::ceil(std::pow(random->NextDouble() / key_a_, 1 / key_b_));
  return Mix64(static_cast<uint64_t>(std::min(rank, kMaxRank))) % range_keys;
}

}  // namespace rocktune
