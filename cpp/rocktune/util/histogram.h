#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace rocktune {

// A log-linear histogram of non-negative integers, such as latencies in nanoseconds. A value's bucket bound
// exceeds the value by less than 2%. Values from 2^42 on (73 minutes in nanoseconds) count in the last
// bucket.
//
// Threads: one thread at a time adds; any thread may take a snapshot at any time. A snapshot taken meanwhile
// has each addition in its bucket or not at all, but its sum may be of other additions than its counts.
class Histogram {
 public:
  Histogram();

  // Adds a value. Wait-free. REQUIRES: no other thread adds at the same time.
  void Add(uint64_t value);

  // A copy of the counts of a histogram, or a sum or difference of such copies. Not thread-safe.
  class Snapshot {
   public:
    // Returns the number of values.
    uint64_t count() const { return count_; }
    // Returns the exact sum of the values.
    uint64_t sum() const { return sum_; }
    // Returns the smallest bucket bound that at least `percentile` percent of the values do not exceed; 0 if
    // there are no values.
    // REQUIRES: 0 < percentile <= 100.
    uint64_t Percentile(double percentile) const;
    // Returns (upper bound, count) of each bucket that is not empty, in ascending order.
    std::vector<std::pair<uint64_t, uint64_t>> Buckets() const;
    // Adds the values of `other`.
    Snapshot& operator+=(const Snapshot& other);
    // Removes the values of `earlier`. REQUIRES: `earlier` is an earlier snapshot of the same histograms.
    Snapshot& operator-=(const Snapshot& earlier);

   private:
    friend class Histogram;
    std::vector<uint64_t> counts_;  // by bucket; empty means that all are 0
    uint64_t count_ = 0;
    uint64_t sum_ = 0;
  };
  // Returns a copy of the present counts.
  Snapshot TakeSnapshot() const;

 private:
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<uint64_t> sum_{0};
};

}  // namespace rocktune
