#pragma once

#include <rocksdb/rate_limiter.h>
#include <rocksdb/system_clock.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "rocktune/device/io_counters.h"
#include "rocktune/governor/drain_bucket.h"

namespace rocktune {

// A rate limiter that counts I/O by cause and limits compactions, running ones too. All other I/O passes at
// once, unless there is a bucket: flushes and compactions then take their writes out of it.
//
// It recognizes compactions by their thread, since under stalls flushes and compactions arrive with the same
// priority. Each database needs the listener of NewThreadRoleListener; without it, nothing is limited.
//
// One limiter may serve several databases, which then share the rate. Thread-safe. A waiting compaction holds
// no lock. Throws no exception.
class GovernedRateLimiter : public rocksdb::RateLimiter {
 public:
  // `device_bytes_per_s` is the result of GetBytesPerSecond; RocksDB first delays writes to that rate. It
  // limits nothing by itself. `bucket` may be null.
  GovernedRateLimiter(int64_t device_bytes_per_s, std::shared_ptr<rocksdb::SystemClock> clock,
                      std::unique_ptr<DrainBucket> bucket = nullptr);

  // Sets the rate of all compactions together, reads and writes; 0 means no limit. Takes effect at once, also
  // for compactions that wait. Does nothing after StopLimiting.
  void SetCompactionBytesPerSecond(uint64_t bytes_per_s);
  // Sets the share of compactions' reads that reach the device, from 0 to 1; initially 1. Only that share of
  // each read uses up the rate.
  void SetDeviceReadShare(double share) { device_read_share_.store(share, std::memory_order_relaxed); }
  double DeviceReadShare() const { return device_read_share_.load(std::memory_order_relaxed); }
  // Removes the limit and the bucket's for good: those that wait go on.
  void StopLimiting();
  // Sets the rate of the bucket, if there is one. REQUIRES: bytes_per_s > 0.
  void SetBucketBytesPerSecond(uint64_t bytes_per_s);
  // Returns the bucket's drains; zeros without a bucket.
  DrainCounts Drains() const { return bucket_ == nullptr ? DrainCounts() : bucket_->Counts(); }
  // Returns the rate of compactions; 0 means no limit.
  uint64_t CompactionBytesPerSecond() const {
    return compaction_bytes_per_s_.load(std::memory_order_relaxed);
  }

  // Returns bytes and requests by cause since construction.
  DeviceCounters Counters() const { return counters_.Counters(); }
  // Returns the time that compactions have waited since construction, summed over threads, by the clock.
  uint64_t WaitedNanos() const { return waited_ns_.load(std::memory_order_relaxed); }

  void SetBytesPerSecond(int64_t bytes_per_second) override { device_bytes_per_s_ = bytes_per_second; }
  int64_t GetBytesPerSecond() const override { return device_bytes_per_s_; }
  int64_t GetSingleBurstBytes() const override {
    return bucket_ == nullptr ? kBurstBytes : std::min(kBurstBytes, bucket_->MaxRequestBytes());
  }
  // Return bytes and requests over all priorities, whatever `priority` is; they are not counted by priority.
  int64_t GetTotalBytesThrough(rocksdb::Env::IOPriority priority = rocksdb::Env::IO_TOTAL) const override;
  int64_t GetTotalRequests(rocksdb::Env::IOPriority priority = rocksdb::Env::IO_TOTAL) const override;
  using rocksdb::RateLimiter::Request;
  // Counts a request. Then waits, on a compaction's thread, until earlier requests have used up their time.
  void Request(int64_t bytes, rocksdb::Env::IOPriority priority, rocksdb::Statistics* statistics,
               OpType operation) override;

 private:
  static constexpr int64_t kBurstBytes = 256 << 10;  // RocksDB splits larger requests at this size

  // Waits until the bytes granted so far have used up their time, and then grants `bytes` more.
  void WaitForTurn(uint64_t bytes);

  const std::shared_ptr<rocksdb::SystemClock> clock_;
  const std::unique_ptr<DrainBucket> bucket_;
  std::atomic<int64_t> device_bytes_per_s_;
  std::atomic<uint64_t> compaction_bytes_per_s_{0};  // read without the lock, changed with it
  std::atomic<double> device_read_share_{1};
  std::atomic<bool> stopped_{false};
  std::atomic<uint64_t> waited_ns_{0};
  IoCounters counters_;
  std::mutex mutex_;  // guards next_ns_ and changes of compaction_bytes_per_s_
  std::condition_variable changed_;
  uint64_t next_ns_ = 0;  // end of the time that the granted bytes take at the present rate
};

}  // namespace rocktune
