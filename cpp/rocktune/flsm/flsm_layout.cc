#include "rocktune/flsm/flsm_layout.h"

#include <algorithm>
#include <string>

namespace rocktune {
namespace {

// Slots of a level's block over T: T runs, T new ones while these are pushed, and T more before runs must be
// moved down.
constexpr int kSlotsPerRatio = 3;
constexpr int kDefaultSizeRatio = 10;
constexpr int kDefaultLevels = 6;

}  // namespace

FlsmOptions LayoutOfNewStore(FlsmOptions layout) {
  layout.size_ratio = layout.size_ratio == 0 ? kDefaultSizeRatio : layout.size_ratio;
  layout.levels = layout.levels == 0 ? kDefaultLevels : layout.levels;
  return layout;
}

FlsmOptions LayoutOfStore(FlsmOptions layout, const FlsmShape& shape) {
  layout.size_ratio = layout.size_ratio == 0 ? shape.size_ratio : layout.size_ratio;
  layout.levels = layout.levels == 0 ? shape.deepest() : layout.levels;
  layout.policies = {1};  // passes CheckLayout; the shape has the store's policies
  layout.deepest_policy = 0;
  return layout;
}

rocksdb::Status CheckLayoutOfStore(const FlsmOptions& layout, const FlsmShape& shape) {
  if (layout.size_ratio != shape.size_ratio) {
    return rocksdb::Status::InvalidArgument("size_ratio: the store was made with " +
                                            std::to_string(shape.size_ratio) +
                                            ", which cannot be changed; set this value or 0");
  }
  if (layout.levels < shape.deepest()) {
    return rocksdb::Status::InvalidArgument("levels: " + std::to_string(layout.levels) +
                                            " is too few, the store has " + std::to_string(shape.deepest()) +
                                            " levels; set this number, a larger one or 0");
  }
  return rocksdb::Status::OK();
}

rocksdb::Status CheckLayout(const FlsmOptions& given) {
  const FlsmOptions layout = LayoutOfNewStore(given);
  if (layout.size_ratio < 2 || layout.size_ratio > 50) {
    return rocksdb::Status::InvalidArgument("size_ratio must be from 2 to 50");
  }
  if (!(layout.filters.bits_per_key >= 0 && layout.filters.bits_per_key <= 100)) {
    return rocksdb::Status::InvalidArgument("bits_per_key must be from 0 to 100");
  }
  if (layout.levels < 1 || layout.levels > kMaxFlsmLevels) {
    return rocksdb::Status::InvalidArgument("levels must be from 1 to " + std::to_string(kMaxFlsmLevels));
  }
  const auto is_out_of_range = [&layout](int policy) { return policy < 1 || policy > layout.size_ratio; };
  if (layout.policies.empty() ||
      std::any_of(layout.policies.begin(), layout.policies.end(), is_out_of_range)) {
    return rocksdb::Status::InvalidArgument(
        "policies must have at least one value, each from 1 to size_ratio");
  }
  if (layout.deepest_policy < 0 || layout.deepest_policy > layout.size_ratio) {
    return rocksdb::Status::InvalidArgument("deepest_policy must be from 0 to size_ratio");
  }
  if (layout.level0_runs < 0) {
    return rocksdb::Status::InvalidArgument("level0_runs must be 0 or more");
  }
  return rocksdb::Status::OK();
}

rocksdb::Status CheckPolicyChange(const FlsmShape& shape, int level, int policy, FlsmTransition transition) {
  const auto refused = [](const std::string& what, int value, int max) {
    return rocksdb::Status::InvalidArgument(what + " " + std::to_string(value) + " is not from 1 to " +
                                            std::to_string(max));
  };
  if (level < 1 || level > shape.deepest()) {
    return refused("level", level, shape.deepest());
  }
  if (policy < 1 || policy > shape.size_ratio) {
    return refused("policy", policy, shape.size_ratio);
  }
  if (transition == FlsmTransition::kLazy && shape.granularity == FlsmGranularity::kFiles) {
    return rocksdb::Status::InvalidArgument(
        "transition lazy waits for a push of the whole level, which granularity files never does; use "
        "flexible or "
        "greedy");
  }
  return rocksdb::Status::OK();
}

FlsmShape EmptyShape(const FlsmOptions& given, uint64_t write_buffer_bytes, uint64_t file_bytes) {
  const FlsmOptions layout = LayoutOfNewStore(given);
  FlsmShape shape;
  shape.size_ratio = layout.size_ratio;
  shape.slots = kSlotsPerRatio * layout.size_ratio;
  shape.level1_bytes = layout.level1_bytes != 0
                           ? layout.level1_bytes
                           : write_buffer_bytes * static_cast<uint64_t>(layout.size_ratio);
  shape.deepest_policy = layout.deepest_policy;
  shape.max_level0_files = static_cast<uint64_t>(layout.level0_runs);
  shape.granularity = layout.granularity;
  shape.file_bytes = file_bytes;
  shape.levels.resize(static_cast<std::size_t>(layout.levels));
  for (std::size_t level = 0; level < shape.levels.size(); ++level) {
    shape.levels[level].policy = layout.policies[std::min(level, layout.policies.size() - 1)];
  }
  return shape;
}

}  // namespace rocktune
