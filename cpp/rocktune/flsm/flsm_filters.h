#pragma once

#include <rocksdb/filter_policy.h>

#include <atomic>
#include <memory>
#include <vector>

#include "rocktune/flsm_options.h"

namespace rocktune {

// The share of absent keys that a Bloom filter lets pass: e^(-b (ln 2)^2) with b bits per key; 1 with none.
double FalsePositiveRate(double bits_per_key);

// Bits per key of each level from the first, in a tree with so many full levels of which each holds
// `size_ratio` times the one above. Both schemes take the same memory. Monkey gives the deepest levels none
// where that is too little for a rate below 1. REQUIRES: size_ratio >= 2, levels >= 1, bits_per_key >= 0.
std::vector<double> BitsPerKey(const FlsmFilters& filters, int size_ratio, int levels);

// RocksDB's own Bloom filters, of a size that depends on the logical level for which a table is written.
// Thread-safe.
class FlsmFilterPolicy : public rocksdb::FilterPolicy {
 public:
  // Each logical level is a block of `slots` physical ones after level 0, which is filtered as level 1.
  FlsmFilterPolicy(const FlsmFilters& filters, int size_ratio, int slots, int levels);

  // How many levels have something in them; tables that are written from now on are filtered for so many.
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
