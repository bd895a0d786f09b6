#include <nlohmann/json.hpp>

#include "rocktune/util/json_fields.h"
#include "rocktune/workload/trace_file.h"

namespace rocktune {
namespace {

StoredEntries StoredFromJson(const nlohmann::json& json) {
  StoredEntries stored;
  JsonFields fields(json, "stored");
  fields.Read("keys", &stored.keys);
  fields.Read("untouched_keys", &stored.untouched_keys);
  fields.Read("mean_key_bytes", &stored.mean_key_bytes);
  fields.Read("value_bytes", &stored.value_bytes);
  return stored;
}

nlohmann::json ToJson(const StoredEntries& stored) {
  return {{"keys", stored.keys},
          {"untouched_keys", stored.untouched_keys},
          {"mean_key_bytes", stored.mean_key_bytes},
          {"value_bytes", stored.value_bytes}};
}

TraceFamily FamilyFromJson(const nlohmann::json& json) {
  TraceFamily family;
  JsonFields fields(json, "families");
  fields.Read("id", &family.id);
  fields.Read("keys", &family.keys);
  fields.Read("used_keys", &family.used_keys);
  fields.Read("present_keys", &family.present_keys);
  fields.Read("mean_key_bytes", &family.mean_key_bytes);
  fields.Read("mean_value_bytes", &family.mean_value_bytes);
  fields.Read("max_value_bytes", &family.max_value_bytes);
  if (const nlohmann::json* operations = fields.Find("operations")) {
    JsonFields counts(*operations, "operations");
    for (std::size_t kind = 0; kind < kOperationKindCount; ++kind) {
      counts.Read(kOperationKindNames[kind], &family.operations[kind]);
    }
  }
  if (const nlohmann::json* stored = fields.Find("stored")) {
    family.stored = StoredFromJson(*stored);
  }
  return family;
}

TraceSampling SamplingFromJson(const nlohmann::json& json) {
  TraceSampling sampling;
  JsonFields fields(json, "sampling");
  fields.Read("scale", &sampling.scale);
  fields.Read("block_keys", &sampling.block_keys);
  fields.Read("hot_keys", &sampling.hot_keys);
  fields.Read("operations_ratio", &sampling.operations_ratio);
  fields.Read("mix_error", &sampling.mix_error);
  fields.Read("hot_share_whole", &sampling.hot_share_whole);
  fields.Read("hot_share_sample", &sampling.hot_share_sample);
  fields.Read("hit_ratio_whole", &sampling.hit_ratio_whole);
  fields.Read("hit_ratio_sample", &sampling.hit_ratio_sample);
  return sampling;
}

nlohmann::json ToJson(const TraceSampling& sampling) {
  return {{"scale", sampling.scale},
          {"block_keys", sampling.block_keys},
          {"hot_keys", sampling.hot_keys},
          {"operations_ratio", sampling.operations_ratio},
          {"mix_error", sampling.mix_error},
          {"hot_share_whole", sampling.hot_share_whole},
          {"hot_share_sample", sampling.hot_share_sample},
          {"hit_ratio_whole", sampling.hit_ratio_whole},
          {"hit_ratio_sample", sampling.hit_ratio_sample}};
}

}  // namespace

TraceSummary TraceSummaryFromJson(const nlohmann::json& json) {
  TraceSummary summary;
  JsonFields fields(json, "");
  fields.Read("operations", &summary.operations);
  fields.Read("span_us", &summary.span_us);
  fields.Read("scan_entries", &summary.scan_entries);
  fields.Read("range_keys", &summary.range_keys);
  fields.Read("hot_share", &summary.hot_share);
  for (const nlohmann::json& family : json.at("families")) {
    summary.families.push_back(FamilyFromJson(family));
  }
  summary.notes = json.at("notes").get<std::map<std::string, uint64_t>>();
  if (const nlohmann::json* sampling = fields.Find("sampling")) {
    summary.sampling = SamplingFromJson(*sampling);
  }
  return summary;
}

nlohmann::json ToJson(const TraceSummary& summary) {
  nlohmann::json families = nlohmann::json::array();
  for (const TraceFamily& family : summary.families) {
    nlohmann::json operations;
    for (std::size_t kind = 0; kind < kOperationKindCount; ++kind) {
      operations[kOperationKindNames[kind]] = family.operations[kind];
    }
    families.push_back({{"id", family.id},
                        {"keys", family.keys},
                        {"used_keys", family.used_keys},
                        {"present_keys", family.present_keys},
                        {"mean_key_bytes", family.mean_key_bytes},
                        {"mean_value_bytes", family.mean_value_bytes},
                        {"max_value_bytes", family.max_value_bytes},
                        {"operations", operations}});
    if (family.stored) {
      families.back()["stored"] = ToJson(*family.stored);
    }
  }
  nlohmann::json json = {{"operations", summary.operations},
                         {"span_us", summary.span_us},
                         {"scan_entries", summary.scan_entries},
                         {"range_keys", summary.range_keys},
                         {"hot_share", summary.hot_share},
                         {"families", families},
                         {"notes", summary.notes}};
  if (summary.sampling) {
    json["sampling"] = ToJson(*summary.sampling);
  }
  return json;
}

}  // namespace rocktune
