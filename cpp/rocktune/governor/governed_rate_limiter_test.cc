#include "rocktune/governor/governed_rate_limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "rocktune/governor/fake_clock.h"
#include "rocktune/util/thread_role.h"

namespace rocktune {
namespace {

using OpType = rocksdb::RateLimiter::OpType;

constexpr uint64_t kSecond = FakeClock::kSecond;
constexpr int64_t kBytes = 256 << 10;

class GovernedRateLimiterTest : public testing::Test {
 protected:
  void Compact(OpType operation = OpType::kWrite) { Request(operation, true); }
  void Request(OpType operation, bool compacts) {
    if (compacts) {
      listener_->OnSubcompactionBegin(rocksdb::SubcompactionJobInfo());
    }
    limiter_.Request(kBytes, rocksdb::Env::IO_USER, nullptr, operation);
    if (compacts) {
      listener_->OnSubcompactionCompleted(rocksdb::SubcompactionJobInfo());
    }
  }
  uint64_t Counted(IoCause cause) const { return limiter_.Counters().bytes[static_cast<std::size_t>(cause)]; }

  std::shared_ptr<FakeClock> clock_ = std::make_shared<FakeClock>();
  GovernedRateLimiter limiter_{400'000'000, clock_};
  std::shared_ptr<rocksdb::EventListener> listener_ = NewThreadRoleListener();
};

TEST_F(GovernedRateLimiterTest, CountsByThreadRoleNotPriority) {
  Compact(OpType::kRead);
  Compact(OpType::kWrite);
  Request(OpType::kRead, false);
  rocksdb::TableFileCreationBriefInfo flush;
  flush.reason = rocksdb::TableFileCreationReason::kFlush;
  listener_->OnTableFileCreationStarted(flush);
  Request(OpType::kWrite, false);
  rocksdb::TableFileCreationInfo done;
  done.reason = rocksdb::TableFileCreationReason::kFlush;
  listener_->OnTableFileCreated(done);
  for (const IoCause cause :
       {IoCause::kCompactionRead, IoCause::kCompactionWrite, IoCause::kUserRead, IoCause::kFlush}) {
    EXPECT_EQ(Counted(cause), kBytes) << kIoCauseNames[static_cast<std::size_t>(cause)];
  }
  EXPECT_EQ(limiter_.GetTotalBytesThrough(), 4 * kBytes);
  EXPECT_EQ(limiter_.GetTotalRequests(), 4);
}

TEST_F(GovernedRateLimiterTest, OnlyCompactionsWait) {
  limiter_.SetCompactionBytesPerSecond(1);
  Compact();  // the first request passes; the next one waits for its time
  Request(OpType::kWrite, false);
  Request(OpType::kRead, false);
  EXPECT_EQ(limiter_.WaitedNanos(), 0);
}

TEST_F(GovernedRateLimiterTest, LimitsTheRateByItsClock) {
  limiter_.SetCompactionBytesPerSecond(kBytes);  // one request a second
  Compact();
  std::atomic<int> passed{0};
  std::thread compaction([&] {
    for (int i = 0; i < 3; ++i) {
      Compact();
      ++passed;
    }
  });
  for (int expected = 1; expected <= 3; ++expected) {
    EXPECT_EQ(passed, expected - 1);
    clock_->Advance(kSecond);
    while (passed < expected) {
      std::this_thread::yield();
    }
  }
  compaction.join();
  EXPECT_LE(limiter_.WaitedNanos(), 3 * kSecond);
}

TEST_F(GovernedRateLimiterTest, DoesNotWaitForLessThanAMillisecond) {
  limiter_.SetCompactionBytesPerSecond(kBytes * 10'000);  // a tenth of a millisecond each
  clock_->Advance(kSecond);
  constexpr int kCreditAndMinWait = 110;  // 10 ms of credit and 1 ms of minimum wait, in requests
  for (int i = 0; i <= kCreditAndMinWait; ++i) {
    Compact();
  }
  EXPECT_EQ(limiter_.WaitedNanos(), 0);
}

TEST_F(GovernedRateLimiterTest, ANewRateAppliesToWaitingCompactions) {
  limiter_.SetCompactionBytesPerSecond(1);  // three days for a request
  Compact();
  std::thread compaction([&] { Compact(); });
  limiter_.SetCompactionBytesPerSecond(kBytes);
  clock_->Advance(kSecond);
  compaction.join();
}

TEST_F(GovernedRateLimiterTest, RemovingTheLimitReleasesWaitingCompactions) {
  limiter_.SetCompactionBytesPerSecond(1);
  Compact();
  std::thread compaction([&] { Compact(); });
  limiter_.SetCompactionBytesPerSecond(0);
  compaction.join();
}

TEST_F(GovernedRateLimiterTest, SetsNoLimitAfterStopLimiting) {
  limiter_.SetCompactionBytesPerSecond(1);
  Compact();
  std::thread compaction([&] { Compact(); });
  limiter_.StopLimiting();
  compaction.join();
  limiter_.SetCompactionBytesPerSecond(1);
  EXPECT_EQ(limiter_.CompactionBytesPerSecond(), 0);
  Compact();
  Compact();
}

TEST_F(GovernedRateLimiterTest, ABucketTakesWritesOfFlushesAndCompactions) {
  // At a low rate, so that a compaction's first write waits for a refill.
  GovernedRateLimiter limiter(400'000'000, clock_, std::make_unique<DrainBucket>(1, 1000, clock_));
  limiter.Request(kBytes, rocksdb::Env::IO_HIGH, nullptr, OpType::kWrite);  // neither flush nor compaction
  std::atomic<bool> read{false};
  std::thread compaction([&] {
    listener_->OnSubcompactionBegin(rocksdb::SubcompactionJobInfo());
    limiter.Request(kBytes, rocksdb::Env::IO_LOW, nullptr, OpType::kRead);
    read = true;
    limiter.Request(kBytes, rocksdb::Env::IO_HIGH, nullptr, OpType::kWrite);
    listener_->OnSubcompactionCompleted(rocksdb::SubcompactionJobInfo());
  });
  while (!read || limiter.Drains().compactions == 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(limiter.Drains().flushes, 0) << "by the thread's role, not by priority";
  limiter.StopLimiting();
  compaction.join();
  EXPECT_EQ(limiter_.Drains().compactions, 0) << "no bucket";
}

TEST_F(GovernedRateLimiterTest, ABucketBoundsTheSizeOfRequests) {
  EXPECT_EQ(limiter_.GetSingleBurstBytes(), 256 << 10);
  const GovernedRateLimiter limiter(1, clock_, std::make_unique<DrainBucket>(190'000'000, 6250, clock_));
  EXPECT_EQ(limiter.GetSingleBurstBytes(), 74'218);
}

TEST_F(GovernedRateLimiterTest, ImplementsRocksDbsRateLimiter) {
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 400'000'000);
  limiter_.SetBytesPerSecond(7);
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 7);
  EXPECT_TRUE(limiter_.IsRateLimited(OpType::kRead));
  EXPECT_TRUE(limiter_.IsRateLimited(OpType::kWrite));
}

}  // namespace
}  // namespace rocktune
