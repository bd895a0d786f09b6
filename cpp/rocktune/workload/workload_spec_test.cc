#include "rocktune/workload/workload_spec.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "rocktune/workload/operation_stream.h"

namespace rocktune {
namespace {

using Json = nlohmann::json;

Json Minimal() {
  return Json::parse(R"({"name":"w","keys":100,"sessions":[{"mix":{"get":0.5,"put":0.5}}]})");
}

// Returns the error message for a spec, or "accepted".
std::string ErrorOf(const Json& json) {
  try {
    WorkloadSpecFromJson(json);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

// Returns the error message for the minimal spec with a change.
std::string ErrorAfter(const std::function<void(Json*)>& change) {
  Json json = Minimal();
  change(&json);
  return ErrorOf(json);
}

TEST(WorkloadSpecTest, AbsentFieldsKeepTheirDefaults) {
  const WorkloadSpec spec = WorkloadSpecFromJson(Minimal());
  EXPECT_EQ(spec.families[0].keys, 100U);
  EXPECT_EQ(spec.families[0].key_bytes, 16U);
  EXPECT_EQ(spec.sessions[0].loads[0].value.low, 1024U);
  EXPECT_EQ(spec.sessions[0].loads[0].key_chooser.kind, "uniform");
  EXPECT_EQ(spec.families[0].preload.keys, 0U);
  EXPECT_TRUE(spec.wal);
  ASSERT_EQ(spec.sessions.size(), 1U);
  EXPECT_EQ(spec.sessions[0].arrival.kind, "closed");
  EXPECT_EQ(spec.sessions[0].loads[0].mix[static_cast<std::size_t>(OperationKind::kPut)], 0.5);
}

TEST(WorkloadSpecTest, ErrorsNameTheField) {
  EXPECT_EQ(ErrorOf(Json::array()), "document: expected an object, not []");
  EXPECT_EQ(ErrorAfter([](Json* json) { (*json)["kyes"] = 1; }),
            "kyes: unknown field; remove it or correct its name");
  EXPECT_EQ(ErrorAfter([](Json* json) { (*json)["keys"] = -1; }),
            "keys: expected a whole number of at least 0, not -1");
  EXPECT_EQ(ErrorAfter([](Json* json) { (*json)["keys"] = 1.5; }),
            "keys: expected a whole number of at least 0, not 1.5");
  EXPECT_EQ(ErrorAfter([](Json* json) { (*json)["wal"] = 1; }), "wal: expected true or false, not 1");
  EXPECT_EQ(ErrorAfter([](Json* json) { (*json)["name"] = 1; }), "name: expected a string, not 1");
  EXPECT_EQ(ErrorAfter([](Json* json) { (*json)["keys"] = 0; }), "keys: must be above 0 and below 2^62");
  EXPECT_EQ(ErrorAfter([](Json* json) { (*json)["key_bytes"] = 4; }),
            "key_bytes: must be between 8 and 1024");
  EXPECT_EQ(ErrorAfter([](Json* json) { (*json)["sessions"] = Json::array(); }),
            "sessions: must be a list of at least one session");
  EXPECT_EQ(ErrorAfter([](Json* json) { (*json)["sync"] = true, (*json)["wal"] = false; }),
            "sync: must be false if wal is false");
  EXPECT_EQ(ErrorAfter([](Json* json) {
              (*json)["preload"] = {{"keys", 101}};
            }),
            "preload.keys: must be at most keys");
}

TEST(WorkloadSpecTest, ErrorsInsidePartsNameThePath) {
  EXPECT_EQ(ErrorAfter([](Json* json) { (*json)["sessions"][0]["mix"]["get"] = 0.4; }),
            "sessions[1].mix: must be shares that sum to 1, not to 0.900000");
  EXPECT_EQ(ErrorAfter([](Json* json) { (*json)["sessions"][0]["mix"]["gte"] = 0.4; }),
            "sessions[1].mix.gte: unknown field; remove it or correct its name");
  EXPECT_EQ(
      ErrorAfter([](Json* json) {
        (*json)["key_chooser"] = {{"kind", "zipf"}};
      }),
      "key_chooser.kind: unknown kind 'zipf'; use one of uniform, zipfian, scrambled_zipfian, true_zipf, "
      "hotspot, latest, two_term_exponential, oldest");
  EXPECT_EQ(ErrorAfter([](Json* json) {
              (*json)["key_chooser"] = {{"kind", "zipfian"}, {"skew", 1.0}};
            }),
            "key_chooser.skew: must be in [0, 1)");
  EXPECT_EQ(ErrorAfter([](Json* json) {
              (*json)["value"] = {{"kind", "uniform"}, {"low", 9}, {"high", 8}};
            }),
            "value.high: must be at least low");
  EXPECT_EQ(ErrorAfter([](Json* json) {
              (*json)["value"] = {{"kind", "pareto"}, {"sigma", 0.0}};
            }),
            "value.sigma: must be above 0");
  EXPECT_EQ(ErrorAfter([](Json* json) {
              (*json)["sessions"][0]["arrival"] = {{"kind", "fixed_rate"}};
            }),
            "sessions[1].arrival.operations_s: must be at least 0.001");
  EXPECT_EQ(ErrorAfter([](Json* json) { (*json)["sessions"].push_back((*json)["sessions"][0]); }),
            "sessions: must be longer than 0 seconds, except for the last one");
}

// A workload on two families, of which the second says almost everything itself.
Json TwoFamilies() {
  return Json::parse(R"({
    "name": "w", "key_bytes": 24, "value": {"low": 10}, "keys": 300, "preload": {"keys": 100},
    "families": [{"name": "default", "keys": 100, "share": 0.25},
                 {"name": "large", "keys": 200, "key_bytes": 8, "share": 0.75, "mix": {"put": 1},
                  "value": {"low": 5000}, "key_chooser": {"kind": "latest"}, "preload": {"keys": 100},
                  "value_compressed_fraction": 1.0}],
    "sessions": [{"seconds": 1, "mix": {"get": 1}},
                 {"mix": {"scan": 1}, "value": {"low": 20}, "scan_length": {"low": 3},
                  "key_chooser": {"kind": "zipfian", "skew": 0.5},
                  "families": [{"name": "large", "share": 1, "value": {"low": 9000}},
                               {"name": "default", "share": 0}]}]})");
}

TEST(WorkloadSpecTest, FamiliesHaveTheMostSpecificLoad) {
  const WorkloadSpec spec = WorkloadSpecFromJson(TwoFamilies());
  ASSERT_EQ(spec.families.size(), 2U);
  EXPECT_EQ(spec.families[0].key_bytes, 24U);
  EXPECT_EQ(spec.families[0].value.low, 10U);
  EXPECT_EQ(spec.families[0].preload.keys, 0U);
  EXPECT_EQ(spec.families[1].key_bytes, 8U);
  EXPECT_EQ(spec.families[1].value.low, 5000U);
  EXPECT_EQ(spec.preload_keys(), 100U);
  EXPECT_EQ(spec.max_value_bytes(0), 20U);
  EXPECT_EQ(spec.max_value_bytes(1), 9000U);
  const LoadSpec& first = spec.sessions[0].loads[0];
  EXPECT_EQ(first.share, 0.25);
  EXPECT_EQ(first.mix[static_cast<std::size_t>(OperationKind::kGet)], 1);
  EXPECT_EQ(first.value.low, 10U);
  EXPECT_EQ(first.key_chooser.kind, "uniform");
  EXPECT_EQ(spec.sessions[0].loads[1].mix[static_cast<std::size_t>(OperationKind::kPut)], 1);
  EXPECT_EQ(spec.sessions[0].loads[1].key_chooser.kind, "latest");
  const std::vector<LoadSpec>& second = spec.sessions[1].loads;
  EXPECT_EQ(second[0].share, 0);
  EXPECT_EQ(second[0].value.low, 20U);
  EXPECT_EQ(second[0].key_chooser.kind, "zipfian");
  EXPECT_EQ(second[0].scan_length.low, 3U);
  EXPECT_EQ(second[1].share, 1);
  EXPECT_EQ(second[1].value.low, 9000U);
  EXPECT_EQ(second[1].key_chooser.kind, "latest");
}

TEST(WorkloadSpecTest, FamiliesHaveEqualSharesUnlessTheySayOtherwise) {
  Json json = TwoFamilies();
  json["families"][0].erase("share");
  json["families"][1].erase("share");
  json["sessions"].erase(1);
  const WorkloadSpec spec = WorkloadSpecFromJson(json);
  EXPECT_EQ(spec.sessions[0].loads[0].share, 0.5);
  EXPECT_EQ(spec.sessions[0].loads[1].share, 0.5);
}

TEST(WorkloadSpecTest, ErrorsOfFamiliesNameThePath) {
  const auto error_after = [](auto change) {
    Json json = TwoFamilies();
    change(&json);
    return ErrorOf(json);
  };
  EXPECT_EQ(error_after([](Json* json) { (*json)["families"][1]["name"] = "default"; }),
            "families[2].name: must be different from the other families' names");
  EXPECT_EQ(error_after([](Json* json) { (*json)["families"][0]["keys"] = 0; }),
            "families[1].keys: must be above 0 and below 2^62");
  EXPECT_EQ(error_after([](Json* json) { (*json)["families"][0]["share"] = 0.5; }),
            "sessions[1]: must be a session whose families' shares sum to 1, not to 1.250000");
  EXPECT_EQ(error_after([](Json* json) { (*json)["sessions"][1]["families"][0]["name"] = "huge"; }),
            "sessions[2].families[1].name: must be the name of one of the workload's families");
  EXPECT_EQ(error_after([](Json* json) { (*json)["sessions"][0].erase("mix"); }),
            "sessions[1].mix: must be given");
}

TEST(WorkloadSpecTest, RangesToDeleteHaveAWidth) {
  Json json = TwoFamilies();
  json["families"][1]["mix"] = {{"put", 0.5}, {"delete_range", 0.5}};
  EXPECT_EQ(ErrorOf(json), "delete_range_keys: must be given and at least 1, as the mix has delete_range");
  json["delete_range_keys"] = {{"low", 0}};
  EXPECT_EQ(ErrorOf(json), "delete_range_keys: must be given and at least 1, as the mix has delete_range");
  json["delete_range_keys"] = {{"low", 5}};
  json["families"][1]["delete_range_keys"] = {{"low", 9}};
  const WorkloadSpec spec = WorkloadSpecFromJson(json);
  EXPECT_EQ(spec.sessions[0].loads[0].delete_range_keys.low, 5U);
  EXPECT_EQ(spec.sessions[0].loads[1].delete_range_keys.low, 9U);
}

// Reads the specs that tests/golden holds, which Python's tests compare with what Python writes.
class GoldenSpecsTest : public testing::Test {
 protected:
  GoldenSpecsTest() : specs_(Json::parse(std::ifstream(ROCKTUNE_GOLDEN_DIR "/workload_specs.json"))) {}

  const Json specs_;
};

TEST_F(GoldenSpecsTest, ReadsEveryFieldThatPythonWrites) {
  ASSERT_GE(specs_.size(), 24U);
  for (const Json& json : specs_) {
    if (json.contains("families")) {
      continue;  // FamiliesHaveTheMostSpecificLoad
    }
    const WorkloadSpec spec = WorkloadSpecFromJson(json);
    EXPECT_EQ(spec.name, json["name"]);
    EXPECT_EQ(spec.families[0].keys, json["keys"]);
    EXPECT_EQ(spec.families[0].key_bytes, json["key_bytes"]);
    EXPECT_EQ(spec.threads, json["threads"]);
    EXPECT_EQ(spec.families[0].value_compressed_fraction, json["value_compressed_fraction"]);
    EXPECT_EQ(spec.sessions[0].loads[0].value.kind, json["value"]["kind"]);
    EXPECT_EQ(spec.sessions[0].loads[0].value.low, json["value"]["low"]);
    EXPECT_EQ(spec.sessions[0].loads[0].value.sigma, json["value"]["sigma"]);
    EXPECT_EQ(spec.sessions[0].loads[0].key_chooser.kind, json["key_chooser"]["kind"]);
    EXPECT_EQ(spec.sessions[0].loads[0].key_chooser.skew, json["key_chooser"]["skew"]);
    EXPECT_EQ(spec.sessions[0].loads[0].key_chooser.range_d, json["key_chooser"]["range_d"]);
    EXPECT_EQ(spec.sessions[0].loads[0].scan_length.high, json["scan_length"]["high"]);
    EXPECT_EQ(spec.families[0].preload.keys, json["preload"]["keys"]);
    EXPECT_EQ(spec.families[0].preload.random_order, json["preload"]["random_order"]);
    EXPECT_EQ(spec.wal, json["wal"]);
    EXPECT_EQ(spec.sync, json["sync"]);
    ASSERT_EQ(spec.sessions.size(), json["sessions"].size());
    for (std::size_t i = 0; i < spec.sessions.size(); ++i) {
      EXPECT_EQ(spec.sessions[i].seconds, json["sessions"][i]["seconds"]);
      EXPECT_EQ(spec.sessions[i].loads[0].mix[0], json["sessions"][i]["mix"]["get"]);
      EXPECT_EQ(spec.sessions[i].arrival.kind, json["sessions"][i]["arrival"]["kind"]);
      EXPECT_EQ(spec.sessions[i].arrival.on_s, json["sessions"][i]["arrival"]["on_s"]);
    }
  }
}

TEST_F(GoldenSpecsTest, StreamsStartOperationsInOrder) {
  for (const Json& json : specs_) {
    WorkloadState state(WorkloadSpecFromJson(json));
    OperationStream stream(&state, 1, state.spec().threads - 1);
    int64_t previous = -1;
    for (int i = 0; i < 1000; ++i) {
      const Operation operation = stream.Next(std::max<int64_t>(0, previous));
      EXPECT_TRUE(operation.intended_start_ns == -1 || operation.intended_start_ns >= previous)
          << json["name"];
      previous = std::max(previous, operation.intended_start_ns);
    }
  }
}

}  // namespace
}  // namespace rocktune
