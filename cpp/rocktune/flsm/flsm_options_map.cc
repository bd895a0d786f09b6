#include "rocktune/flsm/flsm_options_map.h"

#include <algorithm>
#include <array>
#include <string>

#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/util/settings.h"

namespace rocktune {
namespace {

using Scheme = FlsmFilters::Scheme;

// Returns the name of a level's policy, such as "policy_3".
std::string PolicyName(int level) { return "policy_" + std::to_string(level); }

}  // namespace

FlsmOptions FlsmOptionsFromMap(const SettingsMap& map) {
  FlsmOptions layout = LayoutOfNewStore({});
  Settings settings("flsm");
  settings.BindInteger("size_ratio", &layout.size_ratio);
  settings.BindInteger("level1_bytes", &layout.level1_bytes);
  settings.BindInteger("levels", &layout.levels);
  settings.BindInteger("deepest_policy", &layout.deepest_policy);
  settings.BindInteger("level0_runs", &layout.level0_runs);
  settings.BindInteger("workers", &layout.workers);
  settings.BindInteger("sample_every", &layout.sample_every);
  settings.BindInteger("reshape_bytes_per_s", &layout.reshape_bytes_per_s);
  settings.BindInteger("max_merge_bytes", &layout.max_merge_bytes);
  settings.BindReal("bits_per_key", &layout.filters.bits_per_key);
  settings.BindEnum<Scheme>("filters", {{"uniform", Scheme::kUniform}, {"monkey", Scheme::kMonkey}},
                            &layout.filters.scheme);
  settings.BindEnum<FlsmGranularity>(
      "granularity", {{"levels", FlsmGranularity::kLevels}, {"files", FlsmGranularity::kFiles}},
      &layout.granularity);
  std::array<int, kMaxFlsmLevels> policies = {};  // 0 means: as the level above
  for (int level = 1; level <= kMaxFlsmLevels; ++level) {
    settings.BindInteger(PolicyName(level), &policies[static_cast<std::size_t>(level) - 1]);
  }
  settings.Read(map);
  int policy = layout.policies.front();
  layout.policies.clear();
  for (const int given : policies) {
    policy = given == 0 ? policy : given;
    layout.policies.push_back(policy);
  }
  return layout;
}

SettingsMap MapFromFlsmOptions(const FlsmOptions& layout) {
  SettingsMap map = {{"size_ratio", std::to_string(layout.size_ratio)},
                     {"level1_bytes", std::to_string(layout.level1_bytes)},
                     {"levels", std::to_string(layout.levels)},
                     {"deepest_policy", std::to_string(layout.deepest_policy)},
                     {"level0_runs", std::to_string(layout.level0_runs)},
                     {"workers", std::to_string(layout.workers)},
                     {"sample_every", std::to_string(layout.sample_every)},
                     {"reshape_bytes_per_s", std::to_string(layout.reshape_bytes_per_s)},
                     {"max_merge_bytes", std::to_string(layout.max_merge_bytes)},
                     {"bits_per_key", NumberText(layout.filters.bits_per_key)},
                     {"filters", layout.filters.scheme == Scheme::kMonkey ? "monkey" : "uniform"},
                     {"granularity", layout.granularity == FlsmGranularity::kFiles ? "files" : "levels"}};
  for (int level = 1; level <= layout.levels; ++level) {
    const std::size_t last = layout.policies.size() - 1;
    map[PolicyName(level)] =
        std::to_string(layout.policies[std::min(last, static_cast<std::size_t>(level) - 1)]);
  }
  return map;
}

}  // namespace rocktune
