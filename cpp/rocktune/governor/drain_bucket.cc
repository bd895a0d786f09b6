#include "rocktune/governor/drain_bucket.h"

#include <rocksdb/env.h>

#include <algorithm>

namespace rocktune {
namespace {

constexpr int32_t kFairness = 10;  // RocksDB's default, which the thesis keeps
constexpr int64_t kRequestsPerRefill = 16;
// Smaller requests would cost more time than they take of the bucket.
constexpr uint64_t kMinRequestBytes = 4096;
// The maximum for a bucket without a rate: RocksDB's writable_file_max_buffer_size.
constexpr int64_t kUnlimitedRequestBytes = 1 << 20;

// Returns the rate for RocksDB's limiter, at which a refill has kMinRequestBytes or more. At a rate below a
// byte a refill that limiter admits nothing, ever.
int64_t LimiterBytesPerSecond(uint64_t bytes_per_s, uint64_t refill_us) {
  const uint64_t least = (kMinRequestBytes * 1'000'000 + refill_us - 1) / refill_us;
  return static_cast<int64_t>(std::max(bytes_per_s, least));
}

}  // namespace

DrainBucket::DrainBucket(uint64_t bytes_per_s, uint64_t refill_us)
    : refill_us_(refill_us),
      limiter_(rocksdb::NewGenericRateLimiter(LimiterBytesPerSecond(bytes_per_s, refill_us),
                                              static_cast<int64_t>(refill_us), kFairness,
                                              rocksdb::RateLimiter::Mode::kWritesOnly,
                                              /*auto_tuned=*/false)),
      limits_(bytes_per_s != 0) {}

void DrainBucket::SetBytesPerSecond(uint64_t bytes_per_s) {
  limiter_->SetBytesPerSecond(LimiterBytesPerSecond(bytes_per_s, refill_us_));
  limits_ = true;
}

void DrainBucket::Request(uint64_t bytes, bool flush) {
  const rocksdb::Env::IOPriority priority = flush ? rocksdb::Env::IO_HIGH : rocksdb::Env::IO_LOW;
  rocksdb::Statistics* const statistics = flush ? flushes_.get() : compactions_.get();
  while (bytes > 0 && limits_ && !stopped_) {
    // RocksDB's limiter takes at most one refill at a time. It calls a refill a burst.
    const int64_t part = std::min(static_cast<int64_t>(bytes), limiter_->GetSingleBurstBytes());
    limiter_->Request(part, priority, statistics, rocksdb::RateLimiter::OpType::kWrite);
    bytes -= static_cast<uint64_t>(part);
  }
}

int64_t DrainBucket::MaxRequestBytes() const {
  return limits_ ? std::max(static_cast<int64_t>(kMinRequestBytes),
                            limiter_->GetSingleBurstBytes() / kRequestsPerRefill)
                 : kUnlimitedRequestBytes;
}

DrainCounts DrainBucket::Counts() const {
  return {flushes_->getTickerCount(rocksdb::NUMBER_RATE_LIMITER_DRAINS),
          compactions_->getTickerCount(rocksdb::NUMBER_RATE_LIMITER_DRAINS)};
}

void DrainBucket::StopLimiting() { stopped_ = true; }

}  // namespace rocktune
