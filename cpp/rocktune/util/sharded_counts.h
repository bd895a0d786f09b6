#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rocktune/util/thread_slot.h"

namespace rocktune {

// `Size` numbers that threads add to. Thread-safe without locks; each number is seen before or after an
// addition, never half-way. A thread counts in a shard of its own, because an atomic addition to a shared
// number costs as much as what is being counted.
template <std::size_t Size>
class ShardedCounts {
 public:
  void Add(std::size_t index, uint64_t addend) {
    if (const std::size_t slot = ThreadSlot(); slot < kOwnShards) {
      std::atomic<uint64_t>& count = shards_[slot].counts[index];
      count.store(count.load(std::memory_order_relaxed) + addend, std::memory_order_relaxed);
    } else {
      shards_[kOwnShards].counts[index].fetch_add(addend, std::memory_order_relaxed);
    }
  }

  std::array<uint64_t, Size> Take() const {
    std::array<uint64_t, Size> sums{};
    for (const Shard& shard : shards_) {
      for (std::size_t index = 0; index < Size; ++index) {
        sums[index] += shard.counts[index].load(std::memory_order_relaxed);
      }
    }
    return sums;
  }

 private:
  static constexpr std::size_t kOwnShards = 128;

  struct alignas(64) Shard {
    std::array<std::atomic<uint64_t>, Size> counts{};
  };

  std::array<Shard, kOwnShards + 1> shards_;  // the last is shared by all threads beyond
};

}  // namespace rocktune
