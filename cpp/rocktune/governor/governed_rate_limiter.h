#pragma once

#include <rocksdb/rate_limiter.h>
#include <rocksdb/system_clock.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "rocktune/device/io_counters.h"

namespace rocktune {

// Counts what flushes and compactions read and write, and slows compactions down to a rate, running ones too.
// Flushes and all else pass at once. By thread, not by priority, because under stalls flushes and compactions
// arrive with equal priority: the store needs the listener of NewThreadRoleListener.
//
// Thread-safe. One limiter may serve several stores, which then share the rate. Nobody holds the lock while
// waiting. Throws nothing.
class GovernedRateLimiter : public rocksdb::RateLimiter {
 public:
  // `device_bytes_per_s` is what RocksDB is told when it asks (it delays writes at that rate first).
  GovernedRateLimiter(int64_t device_bytes_per_s, std::shared_ptr<rocksdb::SystemClock> clock);

  // What compactions may read and write per second, at once for those that wait already; 0 for no limit.
  void SetCompactionBytesPerSecond(uint64_t bytes_per_s);
  // No limit any more, whatever is set later.
  void Lift();
  uint64_t CompactionBytesPerSecond() const {
    return compaction_bytes_per_s_.load(std::memory_order_relaxed);
  }

  // Bytes and requests so far, by cause.
  DeviceCounters Counters() const { return counters_.Counters(); }
  // How long compactions have waited so far, all threads together, by the clock.
  uint64_t WaitedNanos() const { return waited_ns_.load(std::memory_order_relaxed); }

  void SetBytesPerSecond(int64_t bytes_per_second) override { device_bytes_per_s_ = bytes_per_second; }
  int64_t GetBytesPerSecond() const override { return device_bytes_per_s_; }
  int64_t GetSingleBurstBytes() const override { return kBurstBytes; }
  int64_t GetTotalBytesThrough(rocksdb::Env::IOPriority priority = rocksdb::Env::IO_TOTAL) const override;
  int64_t GetTotalRequests(rocksdb::Env::IOPriority priority = rocksdb::Env::IO_TOTAL) const override;
  using rocksdb::RateLimiter::Request;
  void Request(int64_t bytes, rocksdb::Env::IOPriority priority, rocksdb::Statistics* statistics,
               OpType operation) override;

 private:
  static constexpr int64_t kBurstBytes = 256 << 10;

  void WaitForTurn(uint64_t bytes);

  const std::shared_ptr<rocksdb::SystemClock> clock_;
  std::atomic<int64_t> device_bytes_per_s_;
  std::atomic<uint64_t> compaction_bytes_per_s_{0};
  std::atomic<bool> lifted_{false};
  std::atomic<uint64_t> waited_ns_{0};
  IoCounters counters_;
  std::mutex mutex_;  // guards next_ns_, and changes of the rate
  std::condition_variable changed_;
  uint64_t next_ns_ = 0;  // when what was granted so far will have passed at the present rate
};

}  // namespace rocktune
