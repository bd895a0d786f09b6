#include "worker/shaping.h"

#include <algorithm>
#include <string>
#include <vector>

#include "worker/settings.h"

namespace rocktune {
namespace {

using Scheme = FlsmFilters::Scheme;

// "4,2,1"
std::vector<int> PoliciesFromText(const Settings& settings, const std::string& text) {
  std::vector<int> policies;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string each = text.substr(begin, end - begin);
    if (each.empty() || each.size() > 2 || each.find_first_not_of("0123456789") != std::string::npos) {
      settings.Refuse("policies", "'" + text + "' is no list of whole numbers such as 4,2,1");
    }
    policies.push_back(std::stoi(each));
    begin = end + 1;
  }
  return policies;
}

}  // namespace

FlsmOptions FlsmOptionsFromMap(const OptionMaps::Map& map) {
  FlsmOptions layout;
  Settings settings("flsm");
  settings.Whole("size_ratio", &layout.size_ratio);
  settings.Whole("level1_bytes", &layout.level1_bytes);
  settings.Whole("levels", &layout.levels);
  settings.Whole("workers", &layout.workers);
  settings.Number("bits_per_key", &layout.filters.bits_per_key);
  settings.OneOf<Scheme>("filters", {{"uniform", Scheme::kUniform}, {"monkey", Scheme::kMonkey}},
                         &layout.filters.scheme);
  settings.Bind("policies",
                [&](const std::string& text) { layout.policies = PoliciesFromText(settings, text); });
  settings.Read(map);
  return layout;
}

OptionMaps::Map MapFromFlsmOptions(const FlsmOptions& layout) {
  std::string policies;
  for (const int policy : layout.policies) {
    policies += (policies.empty() ? "" : ",") + std::to_string(policy);
  }
  return {{"size_ratio", std::to_string(layout.size_ratio)},
          {"level1_bytes", std::to_string(layout.level1_bytes)},
          {"levels", std::to_string(layout.levels)},
          {"workers", std::to_string(layout.workers)},
          {"bits_per_key", NumberText(layout.filters.bits_per_key)},
          {"filters", layout.filters.scheme == Scheme::kMonkey ? "monkey" : "uniform"},
          {"policies", policies}};
}

}  // namespace rocktune
