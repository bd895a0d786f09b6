#include "rocktune/flsm/flsm_json.h"

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace rocktune {
namespace {

template <typename Struct>
nlohmann::json FieldsOf(const Struct& counted) {
  nlohmann::json json;
  for (const auto& [name, field] : Struct::Fields()) {
    json[name] = counted.*field;
  }
  return json;
}

}  // namespace

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
          {"max_level0_files", shape.max_level0_files},
          {"level0_files", shape.level0_files},
          {"level0_bytes", shape.level0_bytes},
          {"levels", levels}};
}

nlohmann::json ToJson(const FlsmStatistics& statistics) {
  nlohmann::json json = FieldsOf(statistics);
  json["quiet"] = FieldsOf(statistics.quiet);
  json["merging"] = FieldsOf(statistics.merging);
  nlohmann::json& levels = json["levels"] = nlohmann::json::array();
  for (const FlsmLevelStatistics& level : statistics.levels) {
    levels.push_back(FieldsOf(level));
  }
  return json;
}

nlohmann::json ToJson(const FlsmMission& mission) {
  return {{"number", mission.number},
          {"seconds", mission.seconds},
          {"statistics", ToJson(mission.statistics)},
          {"shape", ToJson(mission.shape)}};
}

}  // namespace rocktune
