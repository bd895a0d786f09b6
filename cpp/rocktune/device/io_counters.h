#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rocktune/util/io_cause.h"
#include "rocktune/util/thread_slot.h"

namespace rocktune {

// Bytes and device operations so far, by cause (indexed by IoCause).
struct DeviceCounters {
  std::array<uint64_t, kIoCauseCount> bytes{};
  std::array<uint64_t, kIoCauseCount> operations{};
};

// Counts I/O by cause. Thread-safe without locks; each number is seen before or after an addition, never
// half-way. A thread counts in a shard of its own, because an atomic addition to a shared number costs as
// much as the rest of the throttle when there is no limit.
class IoCounters {
 public:
  void Add(IoCause cause, uint64_t bytes, uint64_t operations) {
    const std::size_t slot = ThreadSlot();
    if (slot < kOwnShards) {
      Count& count = shards_[slot].counts[static_cast<std::size_t>(cause)];
      AddAsOnlyWriter(&count.bytes, bytes);
      AddAsOnlyWriter(&count.operations, operations);
    } else {
      Count& count = shards_[kOwnShards].counts[static_cast<std::size_t>(cause)];
      count.bytes.fetch_add(bytes, std::memory_order_relaxed);
      count.operations.fetch_add(operations, std::memory_order_relaxed);
    }
  }

  DeviceCounters Take() const {
    DeviceCounters counters;
    for (const Shard& shard : shards_) {
      for (std::size_t cause = 0; cause < kIoCauseCount; ++cause) {
        counters.bytes[cause] += shard.counts[cause].bytes.load(std::memory_order_relaxed);
        counters.operations[cause] += shard.counts[cause].operations.load(std::memory_order_relaxed);
      }
    }
    return counters;
  }

 private:
  static constexpr std::size_t kOwnShards = 128;

  struct Count {
    std::atomic<uint64_t> bytes{0};
    std::atomic<uint64_t> operations{0};
  };
  struct alignas(64) Shard {
    std::array<Count, kIoCauseCount> counts;
  };

  static void AddAsOnlyWriter(std::atomic<uint64_t>* number, uint64_t addend) {
    number->store(number->load(std::memory_order_relaxed) + addend, std::memory_order_relaxed);
  }

  std::array<Shard, kOwnShards + 1> shards_;  // the last is shared by all threads beyond
};

}  // namespace rocktune
