#include "rocktune/flsm/flsm_options_map.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace rocktune {
namespace {

std::string Refusal(const SettingsMap& map) {
  try {
    FlsmOptionsFromMap(map);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(FlsmOptionsMapTest, ParsesAndFormatsALayout) {
  const SettingsMap map = {{"size_ratio", "4"},
                           {"level1_bytes", "1M"},
                           {"levels", "5"},
                           {"level0_runs", "0"},
                           {"workers", "2"},
                           {"bits_per_key", "4.5"},
                           {"filters", "monkey"},
                           {"policy_1", "4"},
                           {"policy_2", "2"},
                           {"policy_3", "1"},
                           {"granularity", "files"},
                           {"deepest_policy", "1"},
                           {"sample_every", "16"},
                           {"reshape_bytes_per_s", "1000"},
                           {"max_merge_bytes", "4096"}};
  const FlsmOptions layout = FlsmOptionsFromMap(map);
  EXPECT_EQ(layout.level1_bytes, uint64_t{1} << 20);
  ASSERT_EQ(layout.policies.size(), 12);
  EXPECT_EQ(layout.policies[0], 4);
  EXPECT_EQ(layout.policies[1], 2);
  EXPECT_EQ(layout.policies[11], 1) << "as the level above";
  EXPECT_EQ(layout.filters.scheme, FlsmFilters::Scheme::kMonkey);
  SettingsMap expected = map;
  expected["level1_bytes"] = "1048576";
  expected["policy_4"] = expected["policy_5"] = "1";
  EXPECT_EQ(MapFromFlsmOptions(layout), expected);
}

TEST(FlsmOptionsMapTest, MissingSettingsHaveDefaults) {
  const SettingsMap map = MapFromFlsmOptions(FlsmOptionsFromMap({}));
  EXPECT_EQ(map.at("size_ratio"), "10");
  EXPECT_EQ(map.at("policy_1"), "1");
  EXPECT_EQ(map.count("policy_7"), 0) << "six levels by default";
  EXPECT_EQ(map.at("filters"), "uniform");
  EXPECT_EQ(map.at("granularity"), "levels");
}

TEST(FlsmOptionsMapTest, ErrorsNameTheProblem) {
  EXPECT_NE(Refusal({{"sise_ratio", "4"}}).find("'sise_ratio'"), std::string::npos);
  EXPECT_NE(Refusal({{"filters", "none"}}).find("use one of uniform, monkey"), std::string::npos);
  EXPECT_NE(Refusal({{"policy_1", "four"}}).find("'policy_1'"), std::string::npos);
  EXPECT_NE(Refusal({{"policy_13", "1"}}).find("'policy_13'"), std::string::npos);
  EXPECT_NE(Refusal({{"levels", "99999999999"}}).find("too large"), std::string::npos);
}

}  // namespace
}  // namespace rocktune
