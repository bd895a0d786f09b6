#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rocktune/io_cause.h"
#include "rocktune/util/sharded_counts.h"

namespace rocktune {

// Counters of I/O by cause. Thread-safe and wait-free; see ShardedCounts. Needs about 16 KiB.
class IoCounters {
 public:
  // Adds bytes and device operations to those of `cause`.
  void Add(IoCause cause, uint64_t bytes, uint64_t operations) {
    const std::size_t index = 2 * static_cast<std::size_t>(cause);
    counts_.Add(index, bytes);
    counts_.Add(index + 1, operations);
  }

  // Returns the sums of all threads.
  DeviceCounters Counters() const {
    const auto counts = counts_.Values();
    DeviceCounters counters;
    for (std::size_t cause = 0; cause < kIoCauseCount; ++cause) {
      counters.bytes[cause] = counts[2 * cause];
      counters.operations[cause] = counts[2 * cause + 1];
    }
    return counters;
  }

 private:
  ShardedCounts<2 * kIoCauseCount> counts_;  // for each cause its bytes, then its operations
};

}  // namespace rocktune
