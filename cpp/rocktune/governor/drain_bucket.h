#pragma once

#include <rocksdb/system_clock.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <random>

namespace rocktune {

// How often a write waited for the refill of an empty bucket, by the kind of write that waited first.
struct DrainCounts {
  uint64_t flushes = 0;
  uint64_t compactions = 0;
};

// The limit on writes by which Warlo's auto-tuner sees the load (sections 3.3.4 to 3.3.6). It grants and
// counts as RocksDB's rate limiter does, but counts drains apart for flushes and compactions. Flushes go
// first. At one refill in ten, drawn at random, compactions go first.
//
// RocksDB's own limiter is not used: from 6.24 to 8.6 it loses wake-ups, and a flush or compaction may then
// wait for ever (docs/design/governor.md). Here each request looks at the clock itself.
//
// Thread-safe. Throws no exception.
class DrainBucket {
 public:
  // Admits `bytes_per_s` in portions, one every `refill_us` microseconds of `clock`, of 4 KiB at least. A
  // rate of 0 admits everything until SetBytesPerSecond. REQUIRES: refill_us > 0.
  DrainBucket(uint64_t bytes_per_s, uint64_t refill_us, std::shared_ptr<rocksdb::SystemClock> clock);

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
  // Returns the requests of flushes or of compactions that wait.
  std::size_t WaitingRequests(bool flush) const;
  // Admits everything for good, also requests that wait.
  void StopLimiting();

 private:
  // These need mutex_.
  bool Limits() const { return bytes_per_s_ != 0 && !stopped_; }
  uint64_t RefillBytes() const;
  // Waits until `bytes`, at most one refill, are admitted.
  void Take(uint64_t bytes, bool flush, std::unique_lock<std::mutex>* lock);
  // Adds a refill and grants it to those who wait.
  void Refill(uint64_t now_ns);
  // Grants what is available to those who wait, in their order.
  void Grant(std::deque<uint64_t*>* queue);

  const std::shared_ptr<rocksdb::SystemClock> clock_;
  const uint64_t refill_us_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  uint64_t bytes_per_s_;
  uint64_t available_bytes_ = 0;
  uint64_t refilled_ns_;           // time of the last refill
  bool drained_ = false;           // a request has waited since then
  std::deque<uint64_t*> flushes_;  // bytes that waiting requests still need, oldest first
  std::deque<uint64_t*> compactions_;
  std::minstd_rand random_{1};
  DrainCounts counts_;
  bool stopped_ = false;
};

}  // namespace rocktune
