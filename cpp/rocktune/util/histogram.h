#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace rocktune {

// A log-linear histogram of non-negative integers (nanoseconds): relative error under 2%, mergeable.
//
// One thread adds; any thread may read at any time and sees each addition entirely or not at all, bucket by
// bucket. Values at or above 2^42 (73 minutes) count in the last bucket.
class Histogram {
 public:
  Histogram();

  // One writer at a time.
  void Add(uint64_t value);

  // A copy of the counts that can be added up and subtracted.
  class Snapshot {
   public:
    uint64_t count() const { return count_; }
    uint64_t sum() const { return sum_; }
    // Smallest bucket bound below or at which at least `percentile` (0, 100] percent of values lie; 0 if
    // empty.
    uint64_t Percentile(double percentile) const;
    // (upper bound, count) of the buckets that are not empty, ascending.
    std::vector<std::pair<uint64_t, uint64_t>> Buckets() const;
    Snapshot& operator+=(const Snapshot& other);
    // REQUIRES: `earlier` is an earlier snapshot of the same histogram(s).
    Snapshot& operator-=(const Snapshot& earlier);

   private:
    friend class Histogram;
    std::vector<uint64_t> counts_;  // empty stands for all zero
    uint64_t count_ = 0;
    uint64_t sum_ = 0;
  };
  Snapshot Take() const;

 private:
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<uint64_t> sum_{0};
};

}  // namespace rocktune
