#include "rocktune/flsm/flsm_filters.h"

#include <algorithm>
#include <cmath>

namespace rocktune {
namespace {

constexpr double kLn2Squared = 0.480453013918201424667;

}  // namespace

double FalsePositiveRate(double bits_per_key) { return std::exp(-bits_per_key * kLn2Squared); }

std::vector<double> BitsPerKey(const FlsmFilters& filters, int size_ratio, int levels) {
  const auto count = static_cast<std::size_t>(levels);
  if (filters.scheme == FlsmFilters::Scheme::kUniform) {
    return std::vector<double>(count, filters.bits_per_key);
  }
  // The rate f_i = T^(i-1) f_1 means (i-1) ln T / (ln 2)^2 fewer bits per key than in level 1.
  const double step = std::log(size_ratio) / kLn2Squared;
  double keys = 0;  // of all levels, in units of level 1's keys
  for (std::size_t level = 0; level < count; ++level) {
    keys += std::pow(size_ratio, static_cast<double>(level));
  }
  const double memory = filters.bits_per_key * keys;
  std::vector<double> bits(count, 0);
  // Tries all levels first, then without the deepest, since fewer bits than 0 are impossible.
  for (std::size_t filtered = count; filtered > 0; --filtered) {
    double filtered_keys = 0;
    double saved = 0;
    for (std::size_t level = 0; level < filtered; ++level) {
      const double of_level = std::pow(size_ratio, static_cast<double>(level));
      filtered_keys += of_level;
      saved += of_level * static_cast<double>(level) * step;
    }
    const double first = (memory + saved) / filtered_keys;
    if (first - static_cast<double>(filtered - 1) * step < 0) {
      continue;  // the deepest of these levels would have a rate above 1
    }
    for (std::size_t level = 0; level < filtered; ++level) {
      bits[level] = first - static_cast<double>(level) * step;
    }
    break;
  }
  return bits;
}

FlsmFilterPolicy::FlsmFilterPolicy(const FlsmFilters& filters, int size_ratio, int slots, int levels)
    : slots_(slots) {
  for (int in_use = 1; in_use <= levels; ++in_use) {
    Policies& policies = policies_.emplace_back();
    for (const double bits : BitsPerKey(filters, size_ratio, in_use)) {
      policies.emplace_back(rocksdb::NewBloomFilterPolicy(bits));
    }
  }
}

const char* FlsmFilterPolicy::CompatibilityName() const {
  return policies_.front().front()->CompatibilityName();
}

rocksdb::FilterBitsBuilder* FlsmFilterPolicy::GetBuilderWithContext(
    const rocksdb::FilterBuildingContext& context) const {
  const int max_level = static_cast<int>(policies_.size());
  // RocksDB passes 0 for a flush and -1 for an unknown level; both count as level 1.
  const int level = std::clamp(1 + (context.level_at_creation - 1) / slots_, 1, max_level);
  const int in_use = std::clamp(levels_in_use_.load(std::memory_order_relaxed), level, max_level);
  return policies_[static_cast<std::size_t>(in_use) - 1][static_cast<std::size_t>(level) - 1]
      ->GetBuilderWithContext(context);
}

rocksdb::FilterBitsReader* FlsmFilterPolicy::GetFilterBitsReader(const rocksdb::Slice& contents) const {
  return policies_.front().front()->GetFilterBitsReader(contents);
}

}  // namespace rocktune
