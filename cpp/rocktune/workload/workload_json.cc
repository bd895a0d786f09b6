#include "rocktune/workload/workload_json.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "rocktune/util/json_fields.h"

namespace rocktune {
namespace {

void ReadKind(JsonFields* fields, std::initializer_list<std::string_view> kinds, std::string* kind) {
  fields->Read("kind", kind);
  if (std::find(kinds.begin(), kinds.end(), *kind) == kinds.end()) {
    std::string names;
    for (const std::string_view known : kinds) {
      names += (names.empty() ? "" : ", ") + std::string(known);
    }
    throw std::invalid_argument(fields->PathOf("kind") + ": unknown kind '" + *kind + "'; use one of " +
                                names);
  }
}

}  // namespace

void Require(bool condition, const std::string& path, const std::string& requirement) {
  if (!condition) {
    throw std::invalid_argument(path + ": must be " + requirement);
  }
}

KeyChooserSpec ReadKeyChooser(const nlohmann::json& json, const std::string& path) {
  KeyChooserSpec spec;
  JsonFields fields(json, path);
  ReadKind(&fields,
           {"uniform", "zipfian", "scrambled_zipfian", "true_zipf", "hotspot", "latest",
            "two_term_exponential", "oldest"},
           &spec.kind);
  fields.Read("skew", &spec.skew);
  fields.Read("hot_key_share", &spec.hot_key_share);
  fields.Read("hot_operation_share", &spec.hot_operation_share);
  fields.Read("range_a", &spec.range_a);
  fields.Read("range_b", &spec.range_b);
  fields.Read("range_c", &spec.range_c);
  fields.Read("range_d", &spec.range_d);
  fields.Read("ranges", &spec.ranges);
  fields.Read("key_a", &spec.key_a);
  fields.Read("key_b", &spec.key_b);
  fields.RefuseUnknown();
  if (spec.kind == "true_zipf") {
    Require(spec.skew > 0, fields.PathOf("skew"), "above 0");
  } else {
    Require(spec.skew >= 0 && spec.skew < 1, fields.PathOf("skew"), "in [0, 1)");
  }
  Require(spec.hot_key_share > 0 && spec.hot_key_share <= 1, fields.PathOf("hot_key_share"), "in (0, 1]");
  Require(spec.hot_operation_share >= 0 && spec.hot_operation_share <= 1,
          fields.PathOf("hot_operation_share"), "in [0, 1]");
  Require(spec.ranges > 0, fields.PathOf("ranges"), "above 0");
  Require(spec.key_a >= 0 && spec.key_b >= 0 && (spec.key_a == 0) == (spec.key_b == 0),
          fields.PathOf("key_a"), "0 together with key_b, or both above 0");
  return spec;
}

SizeSpec ReadSize(const nlohmann::json& json, const std::string& path) {
  SizeSpec spec;
  JsonFields fields(json, path);
  ReadKind(&fields, {"fixed", "uniform", "pareto"}, &spec.kind);
  fields.Read("low", &spec.low);
  fields.Read("high", &spec.high);
  fields.Read("k", &spec.k);
  fields.Read("sigma", &spec.sigma);
  fields.Read("theta", &spec.theta);
  fields.RefuseUnknown();
  Require(std::max(spec.low, spec.high) < kMaxCount, fields.PathOf("high"), "below 2^62");
  if (spec.kind == "uniform") {
    Require(spec.low <= spec.high, fields.PathOf("high"), "at least low");
  }
  if (spec.kind == "pareto") {
    Require(spec.high > 0, fields.PathOf("high"), "above 0");
    Require(spec.sigma > 0, fields.PathOf("sigma"), "above 0");
    Require(spec.k >= 0, fields.PathOf("k"), "at least 0");
    Require(spec.theta >= 0 && spec.theta <= static_cast<double>(spec.high), fields.PathOf("theta"),
            "between 0 and high");
  }
  return spec;
}

ArrivalSpec ReadArrival(const nlohmann::json& json, const std::string& path) {
  ArrivalSpec spec;
  JsonFields fields(json, path);
  ReadKind(&fields, {"closed", "fixed_rate", "sine", "bursts", "recorded"}, &spec.kind);
  fields.Read("operations_s", &spec.operations_s);
  fields.Read("amplitude_operations_s", &spec.amplitude_operations_s);
  fields.Read("period_s", &spec.period_s);
  fields.Read("on_s", &spec.on_s);
  fields.Read("phase_s", &spec.phase_s);
  fields.Read("patience_s", &spec.patience_s);
  fields.RefuseUnknown();
  if (spec.kind == "closed" || spec.kind == "recorded") {  // the other fields are ignored, whatever they hold
    return spec;
  }
  Require(spec.operations_s >= kMinRate, fields.PathOf("operations_s"), "at least 0.001");
  Require(spec.kind == "fixed_rate" || spec.period_s >= kMinSeconds, fields.PathOf("period_s"),
          "at least 0.001");
  Require(spec.kind != "sine" ||
              (spec.amplitude_operations_s >= 0 && spec.amplitude_operations_s <= spec.operations_s),
          fields.PathOf("amplitude_operations_s"), "between 0 and operations_s");
  Require(spec.kind != "bursts" || (spec.on_s > 0 && spec.on_s <= spec.period_s), fields.PathOf("on_s"),
          "above 0 and at most period_s");
  Require(spec.phase_s >= 0 && (spec.phase_s == 0 || spec.phase_s < spec.period_s), fields.PathOf("phase_s"),
          "at least 0 and below period_s");
  Require(spec.patience_s >= 0, fields.PathOf("patience_s"), "at least 0");
  return spec;
}

OperationMix ReadMix(const nlohmann::json& json, const std::string& path) {
  OperationMix mix{};
  JsonFields fields(json, path);
  double sum = 0;
  for (std::size_t kind = 0; kind < kOperationKindCount; ++kind) {
    fields.Read(kOperationKindNames[kind], &mix[kind]);
    Require(mix[kind] >= 0, fields.PathOf(kOperationKindNames[kind]), "at least 0");
    sum += mix[kind];
  }
  fields.RefuseUnknown();
  Require(std::abs(sum - 1) <= kMixTolerance, path, "shares that sum to 1, not to " + std::to_string(sum));
  return mix;
}

}  // namespace rocktune
