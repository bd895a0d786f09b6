#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <vector>

#include "rocktune/workload/random.h"

namespace rocktune {

// Counts the uses of keys in 16 MiB. With many millions of keys a count may be that of several keys together,
// which hardly matters for hot ones. Not thread-safe.
class KeyCounts {
 public:
  KeyCounts() : counts_(kCells) {}

  void Add(uint64_t key) {
    uint32_t& count = counts_[Cell(key)];
    count += count < std::numeric_limits<uint32_t>::max();
    ++total_;
  }
  // Returns the number of uses of a key, or more.
  uint64_t CountOf(uint64_t key) const { return counts_[Cell(key)]; }
  // Returns the share of uses that are of the hottest hundredth of the used keys; 0 without uses.
  double HotShare() const {
    std::vector<uint32_t> used = Used();
    if (used.empty()) {
      return 0;
    }
    const auto hot = used.begin() + static_cast<std::ptrdiff_t>((used.size() + 99) / 100);
    std::nth_element(used.begin(), hot - 1, used.end(), std::greater<>());
    uint64_t sum = 0;
    std::for_each(used.begin(), hot, [&sum](uint32_t each) { sum += each; });
    return static_cast<double>(sum) / static_cast<double>(total_);
  }

 private:
  static constexpr int kCellBits = 22;
  static constexpr std::size_t kCells = std::size_t{1} << kCellBits;

  static std::size_t Cell(uint64_t key) {
    return static_cast<std::size_t>(Mix64(key + 1) >> (64 - kCellBits));
  }

  std::vector<uint32_t> Used() const {
    std::vector<uint32_t> used;
    std::copy_if(counts_.begin(), counts_.end(), std::back_inserter(used),
                 [](uint32_t each) { return each > 0; });
    return used;
  }

  std::vector<uint32_t> counts_;
  uint64_t total_ = 0;
};

}  // namespace rocktune
