#include "rocktune/governor/governed_rate_limiter.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "rocktune/util/thread_role.h"

namespace rocktune {
namespace {

constexpr double kNanosPerSecond = 1e9;
// Unused time that counts after a pause. It also makes up for threads that wake late.
constexpr uint64_t kCreditNanos = 10'000'000;
// A shorter wait is left to the next request. Compactions read 4 KB at a time, and a sleep for each read
// costs more CPU than the read.
constexpr uint64_t kMinWaitNanos = 1'000'000;
// Maximum real time between two readings of the clock, which a test may have stopped.
constexpr std::chrono::milliseconds kMaxWait{10};

IoCause CauseOf(ThreadRole role, rocksdb::RateLimiter::OpType operation) {
  const bool reads = operation == rocksdb::RateLimiter::OpType::kRead;
  switch (role) {
    case ThreadRole::kFlush:
      return reads ? IoCause::kOther : IoCause::kFlush;
    case ThreadRole::kCompaction:
      return reads ? IoCause::kCompactionRead : IoCause::kCompactionWrite;
    case ThreadRole::kUser:
    case ThreadRole::kOther:
      break;
  }
  return reads ? IoCause::kUserRead : IoCause::kOther;
}

}  // namespace

GovernedRateLimiter::GovernedRateLimiter(int64_t device_bytes_per_s,
                                         std::shared_ptr<rocksdb::SystemClock> clock,
                                         std::unique_ptr<DrainBucket> bucket)
    : RateLimiter(Mode::kAllIo),
      clock_(std::move(clock)),
      bucket_(std::move(bucket)),
      device_bytes_per_s_(device_bytes_per_s) {}

void GovernedRateLimiter::Request(int64_t bytes, rocksdb::Env::IOPriority /*priority*/,
                                  rocksdb::Statistics* /*statistics*/, OpType operation) {
  const ThreadRole role = CurrentThreadRole();
  counters_.Add(CauseOf(role, operation), static_cast<uint64_t>(bytes), 1);
  if (bucket_ != nullptr && operation == OpType::kWrite &&
      (role == ThreadRole::kFlush || role == ThreadRole::kCompaction)) {
    bucket_->Request(static_cast<uint64_t>(bytes), role == ThreadRole::kFlush);
  }
  if (role == ThreadRole::kCompaction && CompactionBytesPerSecond() != 0) {
    const double share = operation == OpType::kRead ? DeviceReadShare() : 1;
    WaitForTurn(static_cast<uint64_t>(static_cast<double>(bytes) * share));
  }
}

void GovernedRateLimiter::WaitForTurn(uint64_t bytes) {
  const uint64_t began_ns = clock_->NowNanos();
  uint64_t now_ns = began_ns;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool waits = next_ns_ > now_ns + kMinWaitNanos;
    while (waits && CompactionBytesPerSecond() != 0 && next_ns_ > now_ns) {
      changed_.wait_for(
          lock, std::min<std::chrono::nanoseconds>(kMaxWait, std::chrono::nanoseconds(next_ns_ - now_ns)));
      now_ns = clock_->NowNanos();
    }
    if (const uint64_t rate = CompactionBytesPerSecond(); rate != 0) {
      const double takes_ns = static_cast<double>(bytes) * kNanosPerSecond / static_cast<double>(rate);
      next_ns_ =
          std::max(next_ns_, now_ns - std::min(now_ns, kCreditNanos)) + static_cast<uint64_t>(takes_ns);
    }
  }
  waited_ns_.fetch_add(now_ns > began_ns ? now_ns - began_ns : 0, std::memory_order_relaxed);
}

void GovernedRateLimiter::SetCompactionBytesPerSecond(uint64_t bytes_per_s) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) {
      bytes_per_s = 0;
    }
    const uint64_t before = compaction_bytes_per_s_.exchange(bytes_per_s, std::memory_order_relaxed);
    const uint64_t now_ns = clock_->NowNanos();
    if (before != 0 && bytes_per_s != 0 && next_ns_ > now_ns) {
      // Bytes granted at the old rate take their time at the new one; a rise must release waiters at once.
      const double left_ns = static_cast<double>(next_ns_ - now_ns);
      next_ns_ = now_ns + static_cast<uint64_t>(left_ns * static_cast<double>(before) /
                                                static_cast<double>(bytes_per_s));
    }
  }
  changed_.notify_all();
}

void GovernedRateLimiter::SetBucketBytesPerSecond(uint64_t bytes_per_s) {
  if (bucket_ != nullptr) {
    bucket_->SetBytesPerSecond(bytes_per_s);
  }
}

void GovernedRateLimiter::StopLimiting() {
  stopped_ = true;
  if (bucket_ != nullptr) {
    bucket_->StopLimiting();
  }
  SetCompactionBytesPerSecond(0);
}

int64_t GovernedRateLimiter::GetTotalBytesThrough(rocksdb::Env::IOPriority /*priority*/) const {
  uint64_t bytes = 0;
  for (const uint64_t each : Counters().bytes) {
    bytes += each;
  }
  return static_cast<int64_t>(bytes);
}

int64_t GovernedRateLimiter::GetTotalRequests(rocksdb::Env::IOPriority /*priority*/) const {
  uint64_t requests = 0;
  for (const uint64_t each : Counters().operations) {
    requests += each;
  }
  return static_cast<int64_t>(requests);
}

}  // namespace rocktune
