#include "rocktune/governor/drain_bucket.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace rocktune {
namespace {

constexpr uint32_t kFairness = 10;  // RocksDB's default, which the thesis keeps
constexpr uint64_t kRequestsPerRefill = 16;
// Smaller requests would cost more time than they take of the bucket.
constexpr uint64_t kMinRequestBytes = 4096;
// The maximum for a bucket without a rate: RocksDB's writable_file_max_buffer_size.
constexpr int64_t kUnlimitedRequestBytes = 1 << 20;
constexpr double kMicrosPerSecond = 1e6;
// Maximum real time between two readings of the clock, which a test may have stopped.
constexpr std::chrono::milliseconds kMaxWait{10};

}  // namespace

DrainBucket::DrainBucket(uint64_t bytes_per_s, uint64_t refill_us,
                         std::shared_ptr<rocksdb::SystemClock> clock)
    : clock_(std::move(clock)),
      refill_us_(refill_us),
      bytes_per_s_(bytes_per_s),
      // The first request refills the bucket.
      refilled_ns_(clock_->NowNanos() - refill_us * 1000) {}

void DrainBucket::SetBytesPerSecond(uint64_t bytes_per_s) {
  const std::lock_guard<std::mutex> lock(mutex_);
  bytes_per_s_ = bytes_per_s;
}

void DrainBucket::Request(uint64_t bytes, bool flush) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (bytes > 0 && Limits()) {
    const uint64_t part = std::min(bytes, RefillBytes());
    Take(part, flush, &lock);
    bytes -= part;
  }
}

void DrainBucket::Take(uint64_t bytes, bool flush, std::unique_lock<std::mutex>* lock) {
  if (available_bytes_ >= bytes) {
    available_bytes_ -= bytes;
    return;
  }
  std::deque<uint64_t*>& queue = flush ? flushes_ : compactions_;
  queue.push_back(&bytes);
  while (bytes > 0 && !stopped_) {
    const uint64_t now_ns = clock_->NowNanos();
    const uint64_t since_ns = now_ns - refilled_ns_;
    // A clock that was set back makes the difference wrap around, hence a refill.
    if (since_ns >= refill_us_ * 1000) {
      Refill(now_ns);
      continue;
    }
    if (!drained_) {
      drained_ = true;
      ++(flush ? counts_.flushes : counts_.compactions);
    }
    changed_.wait_for(*lock, std::min<std::chrono::nanoseconds>(
                                 kMaxWait, std::chrono::nanoseconds(refill_us_ * 1000 - since_ns)));
  }
  if (bytes > 0) {
    queue.erase(std::find(queue.begin(), queue.end(), &bytes));
  }
}

void DrainBucket::Refill(uint64_t now_ns) {
  refilled_ns_ = now_ns;
  drained_ = false;
  if (available_bytes_ < RefillBytes()) {
    available_bytes_ += RefillBytes();
  }
  const bool compactions_first = random_() % kFairness == 0;
  Grant(compactions_first ? &compactions_ : &flushes_);
  Grant(compactions_first ? &flushes_ : &compactions_);
  changed_.notify_all();
}

void DrainBucket::Grant(std::deque<uint64_t*>* queue) {
  while (!queue->empty() && available_bytes_ > 0) {
    const uint64_t granted = std::min(available_bytes_, *queue->front());
    available_bytes_ -= granted;
    *queue->front() -= granted;
    if (*queue->front() == 0) {
      queue->pop_front();
    }
  }
}

uint64_t DrainBucket::RefillBytes() const {
  return std::max(kMinRequestBytes,
                  static_cast<uint64_t>(static_cast<double>(bytes_per_s_) * static_cast<double>(refill_us_) /
                                        kMicrosPerSecond));
}

int64_t DrainBucket::MaxRequestBytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_per_s_ == 0
             ? kUnlimitedRequestBytes
             : static_cast<int64_t>(std::max(kMinRequestBytes, RefillBytes() / kRequestsPerRefill));
}

DrainCounts DrainBucket::Counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

std::size_t DrainBucket::WaitingRequests(bool flush) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return (flush ? flushes_ : compactions_).size();
}

void DrainBucket::StopLimiting() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

}  // namespace rocktune
