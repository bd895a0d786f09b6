#include "rocktune/util/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace rocktune {
namespace {

using Buckets = std::vector<std::pair<uint64_t, uint64_t>>;

uint64_t UpperBoundFor(uint64_t value) {
  Histogram histogram;
  histogram.Add(value);
  return histogram.TakeSnapshot().Buckets().at(0).first;
}

TEST(HistogramTest, IsEmptyAtFirst) {
  const Histogram::Snapshot snapshot = Histogram().TakeSnapshot();
  EXPECT_EQ(snapshot.count(), 0u);
  EXPECT_EQ(snapshot.sum(), 0u);
  EXPECT_EQ(snapshot.Percentile(99), 0u);
  EXPECT_EQ(snapshot.Buckets(), Buckets{});
  EXPECT_EQ(Histogram::Snapshot().Percentile(50), 0u);
}

// Bucket bounds computed by hand. Below 128 each value has its own bucket: the first 64, and then 64 buckets
// of width 1 for [64, 128). [128, 256) has 64 buckets of width 2, [256, 512) has 64 of width 4, and so on.
TEST(HistogramTest, CutsEachPowerOfTwoIntoSixtyFourBuckets) {
  EXPECT_EQ(UpperBoundFor(0), 0u);
  EXPECT_EQ(UpperBoundFor(63), 63u);
  EXPECT_EQ(UpperBoundFor(64), 64u);
  EXPECT_EQ(UpperBoundFor(127), 127u);
  EXPECT_EQ(UpperBoundFor(128), 129u);
  EXPECT_EQ(UpperBoundFor(129), 129u);
  EXPECT_EQ(UpperBoundFor(130), 131u);
  EXPECT_EQ(UpperBoundFor(256), 259u);
  EXPECT_EQ(UpperBoundFor(1000), 1007u);  // [512, 1024) has width 8: 1000 = 512 + 61 * 8
}

// The error is largest at the smallest value of a bucket, which is one above the bound of the bucket before.
TEST(HistogramTest, RelativeErrorStaysUnderTwoPercentInEveryBucket) {
  uint64_t lowest = 0;
  int buckets = 0;
  while (lowest < uint64_t{1} << 42) {
    const uint64_t bound = UpperBoundFor(lowest);
    ASSERT_GE(bound, lowest);
    ASSERT_LT(static_cast<double>(bound - lowest), 0.02 * static_cast<double>(lowest) + 1e-9) << lowest;
    ASSERT_EQ(UpperBoundFor(bound), bound);
    lowest = bound + 1;
    ++buckets;
  }
  EXPECT_EQ(buckets, 64 * 37);  // 64 for [0, 64), and 36 powers of two up to 2^42
}

TEST(HistogramTest, LastBucketCountsValuesBeyondTheLimit) {
  const uint64_t last = (uint64_t{1} << 42) - 1;
  EXPECT_EQ(UpperBoundFor(uint64_t{1} << 42), last);
  EXPECT_EQ(UpperBoundFor(UINT64_MAX), last);
}

TEST(HistogramTest, PercentileIsTheSmallestSufficientBound) {
  Histogram histogram;
  for (uint64_t value = 1; value <= 100; ++value) {
    histogram.Add(value);
  }
  const Histogram::Snapshot snapshot = histogram.TakeSnapshot();
  EXPECT_EQ(snapshot.Percentile(0.5), 1u);
  EXPECT_EQ(snapshot.Percentile(50), 50u);
  EXPECT_EQ(snapshot.Percentile(50.5), 51u);
  EXPECT_EQ(snapshot.Percentile(99), 99u);
  EXPECT_EQ(snapshot.Percentile(100), 100u);
  EXPECT_EQ(snapshot.count(), 100u);
  EXPECT_EQ(snapshot.sum(), 5050u);
}

TEST(HistogramTest, PercentilesOfManyValuesAreWithinTwoPercent) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> latency(11, 1.5);
  Histogram histogram;
  std::vector<uint64_t> values;
  for (int i = 0; i < 20000; ++i) {
    values.push_back(static_cast<uint64_t>(latency(random)));
    histogram.Add(values.back());
  }
  std::sort(values.begin(), values.end());
  const Histogram::Snapshot snapshot = histogram.TakeSnapshot();
  for (const auto& [percentile, rank] : {std::pair{50.0, 10000}, {99.0, 19800}, {99.9, 19980}}) {
    const uint64_t exact = values[static_cast<std::size_t>(rank) - 1];
    EXPECT_GE(snapshot.Percentile(percentile), exact);
    EXPECT_LE(static_cast<double>(snapshot.Percentile(percentile)), 1.02 * static_cast<double>(exact));
  }
}

TEST(HistogramTest, SnapshotsAddUpAndSubtract) {
  Histogram one, other;
  one.Add(10);
  other.Add(10);
  other.Add(20);
  Histogram::Snapshot both;  // an empty snapshot can be added to
  both += one.TakeSnapshot();
  both += other.TakeSnapshot();
  EXPECT_EQ(both.Buckets(), (Buckets{{10, 2}, {20, 1}}));
  EXPECT_EQ(both.sum(), 40u);

  const Histogram::Snapshot earlier = one.TakeSnapshot();
  one.Add(30);
  Histogram::Snapshot window = one.TakeSnapshot();
  window -= earlier;
  window -= Histogram::Snapshot();
  EXPECT_EQ(window.Buckets(), (Buckets{{30, 1}}));
  EXPECT_EQ(window.count(), 1u);
  EXPECT_EQ(window.sum(), 30u);
}

TEST(HistogramTest, SnapshotsCanBeTakenWhileAThreadAdds) {
  Histogram histogram;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (uint64_t value = 0; value < 100000; ++value) {
      histogram.Add(value);
    }
    done = true;
  });
  uint64_t before = 0;
  while (!done) {
    const uint64_t count = histogram.TakeSnapshot().count();
    EXPECT_GE(count, before);
    before = count;
  }
  writer.join();
  EXPECT_EQ(histogram.TakeSnapshot().count(), 100000u);
}

}  // namespace
}  // namespace rocktune
