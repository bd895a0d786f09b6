#include "rocktune/flsm/flsm_json.h"

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace rocktune {

FlsmTransition TransitionNamed(const std::string& name) {
  constexpr std::array kNames = {std::pair{"greedy", FlsmTransition::kGreedy},
                                 std::pair{"lazy", FlsmTransition::kLazy},
                                 std::pair{"flexible", FlsmTransition::kFlexible}};
  for (const auto& [known, transition] : kNames) {
    if (name == known) {
      return transition;
    }
  }
  throw std::invalid_argument("transition '" + name + "' is none of greedy, lazy and flexible");
}

nlohmann::json ToJson(const FlsmShape& shape) {
  nlohmann::json levels = nlohmann::json::array();
  for (int number = 1; number <= shape.deepest(); ++number) {
    const FlsmLevel& level = shape.level(number);
    nlohmann::json runs = nlohmann::json::array();
    for (const FlsmRun& run : level.runs) {
      runs.push_back({{"bytes", run.bytes}, {"sealed", run.sealed}, {"physical_level", run.physical}});
    }
    levels.push_back(
        {{"policy", shape.Policy(number)}, {"capacity_bytes", shape.Capacity(number)}, {"runs", runs}});
  }
  return {{"size_ratio", shape.size_ratio},
          {"level0_files", shape.level0_files},
          {"level0_bytes", shape.level0_bytes},
          {"levels", levels}};
}

nlohmann::json ToJson(const FlsmServed& served) {
  return {{"operations", served.operations},
          {"busy_ns", served.busy_ns},
          {"passed", served.passed},
          {"read_ns", served.read_ns},
          {"scanned", served.scanned}};
}

nlohmann::json ToJson(const FlsmStatistics& statistics) {
  nlohmann::json levels = nlohmann::json::array();
  for (const FlsmLevelStatistics& level : statistics.levels) {
    levels.push_back({{"filtered", level.filtered},
                      {"passed", level.passed},
                      {"false_positives", level.false_positives},
                      {"found", level.found},
                      {"read_ns", level.read_ns},
                      {"false_positive_read_ns", level.false_positive_read_ns},
                      {"scanned", level.scanned},
                      {"compactions", level.compactions},
                      {"compaction_read_bytes", level.compaction_read_bytes},
                      {"compaction_written_bytes", level.compaction_written_bytes},
                      {"compaction_us", level.compaction_us}});
  }
  return {{"lookups", statistics.lookups},         {"found", statistics.found},
          {"iterators", statistics.iterators},     {"entries_written", statistics.entries_written},
          {"busy_ns", statistics.busy_ns},         {"quiet", ToJson(statistics.quiet)},
          {"merging", ToJson(statistics.merging)}, {"levels", levels}};
}

nlohmann::json ToJson(const FlsmMission& mission) {
  return {{"number", mission.number},
          {"seconds", mission.seconds},
          {"statistics", ToJson(mission.statistics)},
          {"shape", ToJson(mission.shape)}};
}

}  // namespace rocktune
