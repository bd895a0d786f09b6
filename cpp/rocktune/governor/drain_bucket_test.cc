#include "rocktune/governor/drain_bucket.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace rocktune {
namespace {

constexpr uint64_t kRefillMicros = 1000;
constexpr uint64_t kRefillBytes = 10'000;
constexpr uint64_t kBytesPerSecond = kRefillBytes * 1'000'000 / kRefillMicros;

// Returns the counts after a request has waited. A thread that pauses for a whole refill finds the bucket
// full, so one request may pass without waiting.
DrainCounts AfterADrain(DrainBucket* bucket, bool flush) {
  const DrainCounts before = bucket->Counts();
  DrainCounts now = before;
  while (now.flushes == before.flushes && now.compactions == before.compactions) {
    bucket->Request(kRefillBytes, flush);
    now = bucket->Counts();
  }
  return now;
}

TEST(DrainBucketTest, CountsDrainsOfFlushesAndCompactionsApart) {
  DrainBucket bucket(kBytesPerSecond, kRefillMicros);
  EXPECT_EQ(bucket.Counts().flushes, 0);
  DrainCounts counts = AfterADrain(&bucket, true);
  EXPECT_GT(counts.flushes, 0);
  EXPECT_EQ(counts.compactions, 0);
  const uint64_t flushes = counts.flushes;
  counts = AfterADrain(&bucket, false);
  EXPECT_EQ(counts.flushes, flushes);
  EXPECT_GT(counts.compactions, 0);
}

TEST(DrainBucketTest, ARequestMayExceedARefill) {
  DrainBucket bucket(kBytesPerSecond, kRefillMicros);
  bucket.Request(20 * kRefillBytes, true);
  EXPECT_EQ(bucket.Counts().compactions, 0);
}

TEST(DrainBucketTest, AdmitsWritesAtTheLowestRate) {
  DrainBucket bucket(1, kRefillMicros);
  bucket.Request(10'000, false);
  EXPECT_EQ(bucket.MaxRequestBytes(), 4096);
}

TEST(DrainBucketTest, RequestsAreSmallAgainstARefill) {
  EXPECT_EQ(DrainBucket(190'000'000, 100'000).MaxRequestBytes(), 1'187'500) << "19 MB in 100 ms";
  EXPECT_EQ(DrainBucket(190'000'000, 6250).MaxRequestBytes(), 74'218) << "a model of 1/16";
  EXPECT_EQ(DrainBucket(1000, 100).MaxRequestBytes(), 4096);
  EXPECT_EQ(DrainBucket(0, 100).MaxRequestBytes(), 1 << 20);
}

TEST(DrainBucketTest, LimitsNothingBeforeItHasARate) {
  DrainBucket bucket(0, 1'000'000);
  bucket.Request(uint64_t{1} << 40, false);
  bucket.SetBytesPerSecond(kBytesPerSecond * 1000);
  EXPECT_EQ(bucket.MaxRequestBytes(), kBytesPerSecond * 1000 / 16);
  EXPECT_EQ(bucket.Counts().compactions, 0);
}

TEST(DrainBucketTest, StopLimitingReleasesARequestThatWaits) {
  DrainBucket bucket(kBytesPerSecond, kRefillMicros);
  std::thread flush([&] { bucket.Request(uint64_t{1} << 40, true); });  // a day
  while (bucket.Counts().flushes == 0) {
    std::this_thread::yield();
  }
  bucket.StopLimiting();
  flush.join();
  bucket.Request(uint64_t{1} << 40, false);
}

}  // namespace
}  // namespace rocktune
