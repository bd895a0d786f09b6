#pragma once

#include <rocksdb/filter_policy.h>

#include <atomic>
#include <memory>
#include <vector>

#include "rocktune/flsm_options.h"

namespace rocktune {

// Returns the false-positive rate of a Bloom filter with b bits per key: e^(-b (ln 2)^2), and 1 without bits.
double FalsePositiveRate(double bits_per_key);

// Returns the bits per key of each level from level 1 on, in a tree of `levels` full levels with
// `size_ratio`. Both schemes use the same memory. Monkey multiplies the rate by T from level to level
// (RusKey, section 5.2: f_i = T^(i-1) f_1). It gives no bits to the deepest levels if their rate would exceed
// 1. REQUIRES: size_ratio >= 2, levels >= 1, bits_per_key >= 0.
std::vector<double> BitsPerKey(const FlsmFilters& filters, int size_ratio, int levels);

// RocksDB's Bloom filters with bits per key by the logical level that a table is written to. RocksDB reads
// them without this policy too. Thread-safe.
class FlsmFilterPolicy : public rocksdb::FilterPolicy {
 public:
  // Each logical level is a block of `slots` physical levels; tables of level 0 are filtered as those of
  // level 1.
  FlsmFilterPolicy(const FlsmFilters& filters, int size_ratio, int slots, int levels);

  // Sets the number of levels with data. It determines the bits of tables written from now on.
  void SetLevelsInUse(int levels) { levels_in_use_.store(levels, std::memory_order_relaxed); }

  const char* Name() const override { return "rocktune.FlsmFilterPolicy"; }
  const char* CompatibilityName() const override;
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override;
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override;

 private:
  using Policies = std::vector<std::unique_ptr<const rocksdb::FilterPolicy>>;

  const int slots_;
  std::vector<Policies> policies_;  // by levels in use less 1, then by level less 1
  std::atomic<int> levels_in_use_{1};
};

}  // namespace rocktune
