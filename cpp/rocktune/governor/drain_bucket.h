#pragma once

#include <rocksdb/rate_limiter.h>
#include <rocksdb/statistics.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace rocktune {

// How often a write waited for the refill of an empty bucket, by the kind of write that waited first.
struct DrainCounts {
  uint64_t flushes = 0;
  uint64_t compactions = 0;
};

// The limit on writes by which Warlo's auto-tuner sees the load (sections 3.3.4 to 3.3.6): RocksDB's own rate
// limiter, whose drains are counted apart for flushes and compactions. Flushes have the high priority and
// compactions the low one. At one refill in ten, drawn at random, compactions go first.
//
// Refills follow real time, since RocksDB's limiter takes no other clock. Thread-safe. Throws no exception.
class DrainBucket {
 public:
  // Admits `bytes_per_s` in portions, one every `refill_us` microseconds, of 4 KiB at least. A rate of 0
  // admits everything until SetBytesPerSecond. REQUIRES: refill_us > 0.
  DrainBucket(uint64_t bytes_per_s, uint64_t refill_us);

  // Sets the rate from the next refill on. REQUIRES: bytes_per_s > 0.
  void SetBytesPerSecond(uint64_t bytes_per_s);
  // Waits until `bytes` of a flush or of a compaction are admitted.
  void Request(uint64_t bytes, bool flush);
  // Returns the maximum size that one request should have, a sixteenth of a refill. RocksDB writes up to 1
  // MiB at a time, a nineteenth of the thesis' refill; a model with smaller refills keeps about that
  // proportion.
  int64_t MaxRequestBytes() const;
  // Returns the drains since construction.
  DrainCounts Counts() const;
  // Admits everything for good. A request that waits goes on after the next refill.
  void StopLimiting();

 private:
  const uint64_t refill_us_;
  // RocksDB's limiter counts a drain in the statistics of the request that waits, hence one for each kind.
  const std::shared_ptr<rocksdb::Statistics> flushes_ = rocksdb::CreateDBStatistics();
  const std::shared_ptr<rocksdb::Statistics> compactions_ = rocksdb::CreateDBStatistics();
  const std::unique_ptr<rocksdb::RateLimiter> limiter_;
  std::atomic<bool> limits_;
  std::atomic<bool> stopped_{false};
};

}  // namespace rocktune
