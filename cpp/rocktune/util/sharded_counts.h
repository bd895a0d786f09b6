#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rocktune/util/thread_slot.h"

namespace rocktune {

// An array of `Size` counters that any thread may add to. Each thread counts in a shard of its own, because
// an atomic addition to a shared counter would cost as much as the operation that is counted.
//
// Thread-safe and wait-free. A reader sees each addition completely or not at all, but may see one counter's
// addition without another's of the same operation. Needs 129 shards of 8 * Size bytes, rounded up to 64.
template <std::size_t Size>
class ShardedCounts {
 public:
  // Adds to the counter `index`. REQUIRES: index < Size.
  void Add(std::size_t index, uint64_t addend) {
    if (const std::size_t slot = ThreadSlot(); slot < kOwnShards) {
      // No other thread writes to this shard, so a load and a store replace an atomic addition.
      std::atomic<uint64_t>& count = shards_[slot].counts[index];
      count.store(count.load(std::memory_order_relaxed) + addend, std::memory_order_relaxed);
    } else {
      shards_[kOwnShards].counts[index].fetch_add(addend, std::memory_order_relaxed);
    }
  }

  // Returns the present value of each counter.
  std::array<uint64_t, Size> Values() const {
    std::array<uint64_t, Size> sums{};
    for (const Shard& shard : shards_) {
      for (std::size_t index = 0; index < Size; ++index) {
        sums[index] += shard.counts[index].load(std::memory_order_relaxed);
      }
    }
    return sums;
  }

 private:
  static constexpr std::size_t kOwnShards = 128;  // the first so many thread slots have a shard of their own

  struct alignas(64) Shard {  // a cache line, so that two threads' shards never share one
    std::array<std::atomic<uint64_t>, Size> counts{};
  };

  std::array<Shard, kOwnShards + 1> shards_;  // the last one is shared by all other threads
};

}  // namespace rocktune
