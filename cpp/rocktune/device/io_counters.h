#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rocktune/util/io_cause.h"

namespace rocktune {

// Bytes and device operations so far, by cause (indexed by IoCause).
struct DeviceCounters {
  std::array<uint64_t, kIoCauseCount> bytes{};
  std::array<uint64_t, kIoCauseCount> operations{};
};

// Counts I/O by cause. Thread-safe without locks; each count is seen entirely or not at all.
class IoCounters {
 public:
  void Add(IoCause cause, uint64_t bytes, uint64_t operations) {
    Count& count = counts_[static_cast<std::size_t>(cause)];
    count.bytes.fetch_add(bytes, std::memory_order_relaxed);
    count.operations.fetch_add(operations, std::memory_order_relaxed);
  }

  DeviceCounters Take() const {
    DeviceCounters counters;
    for (std::size_t cause = 0; cause < kIoCauseCount; ++cause) {
      counters.bytes[cause] = counts_[cause].bytes.load(std::memory_order_relaxed);
      counters.operations[cause] = counts_[cause].operations.load(std::memory_order_relaxed);
    }
    return counters;
  }

 private:
  // A cache line each, because flush, compaction and users count at once.
  struct alignas(64) Count {
    std::atomic<uint64_t> bytes{0};
    std::atomic<uint64_t> operations{0};
  };
  std::array<Count, kIoCauseCount> counts_;
};

}  // namespace rocktune
