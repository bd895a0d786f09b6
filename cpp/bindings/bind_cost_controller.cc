// The cost controller in Python.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bind_flsm_util.h"
#include "bindings.h"
#include "rocktune/cost_controller.h"

namespace nb = nanobind;

namespace rocktune {
namespace {

template <typename Struct>
void ReadFields(const nlohmann::json& json, Struct* to) {
  for (const auto& [name, field] : Struct::Fields()) {
    to->*field = static_cast<uint64_t>(std::llround(json.value(name, 0.0)));
  }
}

// Returns the mission in a JSON object like that of ToJson in flsm_json.h. Counts that are missing are 0.
// Throws nlohmann's exceptions.
FlsmMission MissionFromJson(const nlohmann::json& json) {
  FlsmMission mission;
  mission.number = json.at("number").get<uint64_t>();
  const nlohmann::json& statistics = json.at("statistics");
  ReadFields(statistics, &mission.statistics);
  ReadFields(statistics.at("quiet"), &mission.statistics.quiet);
  ReadFields(statistics.at("merging"), &mission.statistics.merging);
  for (const nlohmann::json& level : statistics.at("levels")) {
    ReadFields(level, &mission.statistics.levels.emplace_back());
  }
  const nlohmann::json& shape = json.at("shape");
  mission.shape.size_ratio = shape.at("size_ratio").get<int>();
  mission.shape.max_level0_files = shape.at("max_level0_files").get<uint64_t>();
  mission.shape.level0_files = shape.at("level0_files").get<uint64_t>();
  mission.shape.level0_bytes = shape.at("level0_bytes").get<uint64_t>();
  mission.shape.level1_bytes = shape.at("levels").at(0).at("capacity_bytes").get<uint64_t>();
  for (const nlohmann::json& level : shape.at("levels")) {
    FlsmLevel& added = mission.shape.levels.emplace_back();
    added.policy = level.at("policy").get<int>();
    int physical = 0;  // forecasts use the order of runs alone
    for (const nlohmann::json& run : level.at("runs")) {
      added.runs.push_back({++physical, run.at("bytes").get<uint64_t>(), run.at("sealed").get<bool>()});
    }
  }
  return mission;
}

// A controller for Python; see CostController.
class BoundCostController {
 public:
  BoundCostController(uint64_t flush_bytes, double missions, double half_after)
      : controller_({{missions, half_after}, flush_bytes}) {}

  // Returns level and policy of each change after a mission.
  std::vector<std::pair<int, int>> Decide(const std::string& mission_json) {
    const FlsmMission mission = MissionFromJson(nlohmann::json::parse(mission_json));
    std::vector<std::pair<int, int>> changes;
    for (const FlsmPolicyChange& change : controller_.Decide(mission)) {
      changes.emplace_back(change.level, change.policy);
    }
    return changes;
  }
  bool IsSettled() const { return controller_.IsSettled(); }
  std::string Save() const { return controller_.Save(); }
  void Restore(const std::string& text) { ThrowUnlessOk(controller_.Restore(text)); }

 private:
  CostController controller_;
};

}  // namespace

void BindCostController(nb::module_& module) {
  const CostHorizon horizon;
  nb::class_<BoundCostController>(module, "CostController")
      .def(nb::init<uint64_t, double, double>(), nb::arg("flush_bytes") = 0,
           nb::arg("missions") = horizon.missions, nb::arg("half_after") = horizon.half_after)
      .def("decide", &BoundCostController::Decide, nb::arg("mission_json"))
      .def("is_settled", &BoundCostController::IsSettled)
      .def("save", &BoundCostController::Save)
      .def("restore", &BoundCostController::Restore, nb::arg("text"));
}

}  // namespace rocktune
