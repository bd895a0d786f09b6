#include "rocktune/util/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace rocktune {
namespace {

// Each value below 2^6 has a bucket of its own. The values from 2^n up to 2^(n + 1) share 2^6 buckets of
// equal width. A bucket's upper bound then exceeds its smallest value by less than 1/64, which is 1.6%.
constexpr int kSubBucketBits = 6;
constexpr uint64_t kSubBuckets = uint64_t{1} << kSubBucketBits;
constexpr int kValueBits = 42;
constexpr uint64_t kMaxValue = (uint64_t{1} << kValueBits) - 1;
constexpr std::size_t kBuckets = (kValueBits - kSubBucketBits + 1) * kSubBuckets;

std::size_t BucketOf(uint64_t value) {
  value = std::min(value, kMaxValue);
  if (value < kSubBuckets) {
    return value;
  }
  const int shift = std::bit_width(value) - 1 - kSubBucketBits;
  return (value >> shift) + static_cast<uint64_t>(shift) * kSubBuckets;
}

// Returns the largest value that counts in the bucket.
uint64_t UpperBoundOf(std::size_t bucket) {
  if (bucket < kSubBuckets) {
    return bucket;
  }
  const int shift = static_cast<int>(bucket / kSubBuckets) - 1;
  const uint64_t first_bits = bucket % kSubBuckets + kSubBuckets;
  return ((first_bits + 1) << shift) - 1;
}

}  // namespace

Histogram::Histogram() : counts_(kBuckets) {}

void Histogram::Add(uint64_t value) {
  // A load and a store suffice for one writer, and are cheaper than an atomic addition.
  std::atomic<uint64_t>& count = counts_[BucketOf(value)];
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  sum_.store(sum_.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

Histogram::Snapshot Histogram::TakeSnapshot() const {
  Snapshot snapshot;
  snapshot.counts_.reserve(counts_.size());
  for (const std::atomic<uint64_t>& count : counts_) {
    snapshot.counts_.push_back(count.load(std::memory_order_relaxed));
    // Counted from the buckets: a total of its own could differ from their sum while a thread adds.
    snapshot.count_ += snapshot.counts_.back();
  }
  snapshot.sum_ = sum_.load(std::memory_order_relaxed);
  return snapshot;
}

uint64_t Histogram::Snapshot::Percentile(double percentile) const {
  const double rank = std::ceil(percentile * static_cast<double>(count_) / 100.0);
  uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    seen += counts_[bucket];
    if (counts_[bucket] != 0 && static_cast<double>(seen) >= rank) {
      return UpperBoundOf(bucket);
    }
  }
  return 0;
}

std::vector<std::pair<uint64_t, uint64_t>> Histogram::Snapshot::Buckets() const {
  std::vector<std::pair<uint64_t, uint64_t>> buckets;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    if (counts_[bucket] != 0) {
      buckets.emplace_back(UpperBoundOf(bucket), counts_[bucket]);
    }
  }
  return buckets;
}

Histogram::Snapshot& Histogram::Snapshot::operator+=(const Snapshot& other) {
  counts_.resize(std::max(counts_.size(), other.counts_.size()));
  std::transform(other.counts_.begin(), other.counts_.end(), counts_.begin(), counts_.begin(),
                 [](uint64_t theirs, uint64_t ours) { return ours + theirs; });
  count_ += other.count_;
  sum_ += other.sum_;
  return *this;
}

Histogram::Snapshot& Histogram::Snapshot::operator-=(const Snapshot& earlier) {
  counts_.resize(std::max(counts_.size(), earlier.counts_.size()));
  std::transform(earlier.counts_.begin(), earlier.counts_.end(), counts_.begin(), counts_.begin(),
                 [](uint64_t theirs, uint64_t ours) { return ours - theirs; });
  count_ -= earlier.count_;
  sum_ -= earlier.sum_;
  return *this;
}

}  // namespace rocktune
