#include "rocktune/governor/drain_bucket.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "rocktune/governor/fake_clock.h"

namespace rocktune {
namespace {

constexpr uint64_t kRefillMicros = 1000;
constexpr uint64_t kRefillBytes = 10'000;
constexpr uint64_t kBytesPerSecond = kRefillBytes * 1'000'000 / kRefillMicros;
constexpr int64_t kRefillNanos = kRefillMicros * 1000;

class DrainBucketTest : public testing::Test {
 protected:
  // Makes a request on a thread of its own and waits until it is among those that wait.
  std::thread Waiting(uint64_t bytes, bool flush) {
    const uint64_t waiting = bucket_.WaitingRequests(flush);
    std::thread thread([this, bytes, flush] { bucket_.Request(bytes, flush); });
    while (bucket_.WaitingRequests(flush) == waiting) {
      std::this_thread::yield();
    }
    return thread;
  }
  void ExpectDrains(uint64_t flushes, uint64_t compactions) const {
    EXPECT_EQ(bucket_.Counts().flushes, flushes);
    EXPECT_EQ(bucket_.Counts().compactions, compactions);
  }

  std::shared_ptr<FakeClock> clock_ = std::make_shared<FakeClock>();
  DrainBucket bucket_{kBytesPerSecond, kRefillMicros, clock_};
};

TEST_F(DrainBucketTest, ADrainBelongsToTheKindThatWaitsFirst) {
  bucket_.Request(kRefillBytes, true);
  ExpectDrains(0, 0);
  std::thread compaction = Waiting(kRefillBytes / 2, false);
  ExpectDrains(0, 1);
  std::thread flush = Waiting(kRefillBytes / 2, true);
  ExpectDrains(0, 1);
  clock_->Advance(kRefillNanos);
  compaction.join();
  flush.join();
  flush = Waiting(1, true);
  ExpectDrains(1, 1);
  clock_->Advance(kRefillNanos);
  flush.join();
  ExpectDrains(1, 1);
}

TEST_F(DrainBucketTest, WhatIsLeftOfARefillIsKept) {
  bucket_.Request(kRefillBytes / 2, true);
  clock_->Advance(kRefillNanos);
  bucket_.Request(kRefillBytes, true);
  bucket_.Request(kRefillBytes / 2, true);
  ExpectDrains(0, 0);
  std::thread flush = Waiting(1, true);
  ExpectDrains(1, 0);
  clock_->Advance(kRefillNanos);
  flush.join();
}

TEST_F(DrainBucketTest, FlushesGoFirstExceptAtOneRefillInTen) {
  bucket_.Request(kRefillBytes, true);
  constexpr int kRefills = 100;
  int compactions_first = 0;
  for (int refill = 0; refill < kRefills; ++refill) {
    std::thread compaction = Waiting(kRefillBytes, false);
    std::thread flush = Waiting(kRefillBytes, true);
    clock_->Advance(kRefillNanos);
    while (bucket_.WaitingRequests(true) + bucket_.WaitingRequests(false) == 2) {
      std::this_thread::yield();
    }
    compactions_first += bucket_.WaitingRequests(true) == 1 ? 1 : 0;
    clock_->Advance(kRefillNanos);
    compaction.join();
    flush.join();
  }
  EXPECT_NEAR(compactions_first, 0.1 * kRefills, 9) << "three standard deviations; the draws are the same";
}

TEST_F(DrainBucketTest, ARequestMayExceedARefill) {
  std::thread flush([&] { bucket_.Request(20 * kRefillBytes, true); });
  for (uint64_t refill = 1; refill < 20; ++refill) {
    while (bucket_.Counts().flushes < refill) {
      std::this_thread::yield();
    }
    clock_->Advance(kRefillNanos);
  }
  flush.join();
  ExpectDrains(19, 0);
}

TEST_F(DrainBucketTest, AClockThatIsSetBackHoldsNothingUp) {
  bucket_.Request(kRefillBytes, true);
  std::thread flush = Waiting(1, true);
  clock_->Advance(-1000 * kRefillNanos);
  flush.join();
}

TEST_F(DrainBucketTest, AdmitsWritesAtTheLowestRate) {
  DrainBucket bucket(1, kRefillMicros, clock_);
  bucket.Request(4096, false);
  EXPECT_EQ(bucket.Counts().compactions, 0);
  EXPECT_EQ(bucket.MaxRequestBytes(), 4096);
}

TEST_F(DrainBucketTest, RequestsAreSmallAgainstARefill) {
  EXPECT_EQ(DrainBucket(190'000'000, 100'000, clock_).MaxRequestBytes(), 1'187'500) << "19 MB in 100 ms";
  EXPECT_EQ(DrainBucket(190'000'000, 6250, clock_).MaxRequestBytes(), 74'218) << "a model of 1/16";
  EXPECT_EQ(DrainBucket(1000, 100, clock_).MaxRequestBytes(), 4096);
  EXPECT_EQ(DrainBucket(0, 100, clock_).MaxRequestBytes(), 1 << 20);
}

TEST_F(DrainBucketTest, LimitsNothingBeforeItHasARate) {
  DrainBucket bucket(0, 1'000'000, clock_);
  bucket.Request(uint64_t{1} << 40, false);
  bucket.SetBytesPerSecond(kBytesPerSecond);
  EXPECT_EQ(bucket.MaxRequestBytes(), kBytesPerSecond / 16);
  EXPECT_EQ(bucket.Counts().compactions, 0);
}

TEST_F(DrainBucketTest, StopLimitingReleasesRequestsThatWait) {
  bucket_.Request(kRefillBytes, true);
  std::thread flush = Waiting(uint64_t{1} << 40, true);
  std::thread compaction = Waiting(1, false);
  bucket_.StopLimiting();
  flush.join();
  compaction.join();
  bucket_.Request(uint64_t{1} << 40, false);
  ExpectDrains(1, 0);
}

// RocksDB's own limiter leaves one of them waiting for ever, from 6.24 to 8.6.
TEST(DrainBucketThreadsTest, TheLastRequestsOfSeveralThreadsAreAdmitted) {
  constexpr int kThreads = 3;
  DrainBucket bucket(1, 50, rocksdb::SystemClock::Default());
  for (int round = 0; round < 500; ++round) {
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int each = 0; each < kThreads; ++each) {
      threads.emplace_back([&bucket, each] {
        for (int request = 0; request < 5; ++request) {
          bucket.Request(3000, each == 0);
        }
      });
    }
    for (std::thread& each : threads) {
      each.join();
    }
  }
}

}  // namespace
}  // namespace rocktune
