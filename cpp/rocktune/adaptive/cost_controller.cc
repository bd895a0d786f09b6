#include "rocktune/cost_controller.h"

#include <mutex>
#include <nlohmann/json.hpp>

#include "rocktune/adaptive/cost_decider.h"

namespace rocktune {
namespace {

constexpr int kFormat = 1;

nlohmann::json ToJson(const CostDecision& decision) {
  nlohmann::json changes = nlohmann::json::array();
  for (const FlsmPolicyChange& change : decision.changes) {
    changes.push_back({change.level, change.policy});
  }
  return {{"mission", decision.mission},
          {"what", decision.what},
          {"changes", changes},
          {"why", decision.why},
          {"predicted_ns", decision.predicted_ns},
          {"observed_ns", decision.observed_ns},
          {"observed_missions", decision.observed_missions}};
}

// Throws nlohmann's exceptions for missing fields and wrong types.
CostDecision DecisionFromJson(const nlohmann::json& json) {
  CostDecision decision{json.at("mission").get<uint64_t>(),
                        json.at("what").get<std::string>(),
                        {},
                        json.at("why").get<std::string>(),
                        json.at("predicted_ns").get<double>(),
                        json.at("observed_ns").get<double>(),
                        json.at("observed_missions").get<int>()};
  for (const nlohmann::json& change : json.at("changes")) {
    decision.changes.push_back({change.at(0).get<int>(), change.at(1).get<int>()});
  }
  return decision;
}

// The sums of the prices and the log.
nlohmann::json ToJson(CostDecider* decider) {
  nlohmann::json prices = nlohmann::json::array();
  for (const RatioEstimate* ratio : decider->mutable_estimator()->Ratios()) {
    prices.push_back(ratio->Sums());
  }
  nlohmann::json log = nlohmann::json::array();
  for (const CostDecision& decision : decider->log()) {
    log.push_back(ToJson(decision));
  }
  return {{"format", kFormat}, {"prices", prices}, {"log", log}};
}

// Throws nlohmann's exceptions for missing fields and wrong types.
void FromJson(const nlohmann::json& json, CostDecider* decider) {
  const auto sums = json.at("prices").get<std::vector<std::vector<double>>>();
  std::deque<CostDecision> log;
  for (const nlohmann::json& decision : json.at("log")) {
    log.push_back(DecisionFromJson(decision));
  }
  const std::size_t fixed = decider->mutable_estimator()->Ratios().size();
  if (sums.size() >= fixed) {
    decider->mutable_estimator()->SetLevels(sums.size() - fixed);
    const std::vector<RatioEstimate*> ratios = decider->mutable_estimator()->Ratios();
    for (std::size_t at = 0; at < sums.size(); ++at) {
      if (sums[at].size() == ratios[at]->Sums().size()) {
        ratios[at]->SetSums(sums[at]);
      }
    }
  }
  *decider->mutable_log() = std::move(log);
}

}  // namespace

class CostController::State {
 public:
  explicit State(const CostControllerOptions& options) : decider(options) {}

  mutable std::mutex mutex;
  CostDecider decider;
};

CostController::CostController(const CostControllerOptions& options)
    : state_(std::make_unique<State>(options)) {}

CostController::~CostController() = default;

std::vector<FlsmPolicyChange> CostController::Decide(const FlsmMission& mission) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->decider.Decide(mission);
}

bool CostController::IsSettled() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->decider.IsSettled();
}

std::vector<CostDecision> CostController::Log() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return {state_->decider.log().begin(), state_->decider.log().end()};
}

CostPrices CostController::Prices(int levels) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->decider.estimator().Prices(levels);
}

std::string CostController::Save() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return ToJson(&state_->decider).dump();
}

rocksdb::Status CostController::Restore(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", nlohmann::json()) != kFormat) {
    return rocksdb::Status::Corruption("is no state of a cost controller in format 1");
  }
  const std::lock_guard<std::mutex> lock(state_->mutex);
  try {
    FromJson(json, &state_->decider);
  } catch (const nlohmann::json::exception& error) {
    return rocksdb::Status::Corruption("a cost controller's state", error.what());
  }
  return rocksdb::Status::OK();
}

}  // namespace rocktune
