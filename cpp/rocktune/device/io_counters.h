#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rocktune/io_cause.h"
#include "rocktune/util/sharded_counts.h"

namespace rocktune {

// Counts I/O by cause. Thread-safe without locks; see ShardedCounts.
class IoCounters {
 public:
  void Add(IoCause cause, uint64_t bytes, uint64_t operations) {
    const std::size_t index = 2 * static_cast<std::size_t>(cause);
    counts_.Add(index, bytes);
    counts_.Add(index + 1, operations);
  }

  DeviceCounters Take() const {
    const auto counts = counts_.Take();
    DeviceCounters counters;
    for (std::size_t cause = 0; cause < kIoCauseCount; ++cause) {
      counters.bytes[cause] = counts[2 * cause];
      counters.operations[cause] = counts[2 * cause + 1];
    }
    return counters;
  }

 private:
  ShardedCounts<2 * kIoCauseCount> counts_;  // of each cause bytes, then operations
};

}  // namespace rocktune
