#include "rocktune/governor/governor_options_map.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace rocktune {
namespace {

std::string Refusal(const SettingsMap& map) {
  try {
    GovernorOptionsFromMap(map);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

TEST(GovernorOptionsMapTest, ParsesAndFormatsAllOptions) {
  const SettingsMap map = {{"mode", "toggle"},        {"device_bytes_per_s", "400000000"},
                           {"debt_bytes", "1G"},      {"debt_runs", "70"},
                           {"interval_us", "62500"},  {"flush_share", "0.5"},
                           {"total_share", "0.75"},   {"max_flush_bytes_per_s", "190000000"},
                           {"merge_level0", "false"}, {"min_compaction_share", "0.1"}};
  const GovernorOptions options = GovernorOptionsFromMap(map);
  EXPECT_EQ(options.mode, GovernorMode::kToggle);
  EXPECT_EQ(options.debt_bytes, uint64_t{1} << 30);
  EXPECT_EQ(options.watermarks.total_share, 0.75);
  EXPECT_FALSE(options.merge_level0);
  EXPECT_EQ(options.min_compaction_share, 0.1);
  SettingsMap expected = map;
  expected["debt_bytes"] = std::to_string(uint64_t{1} << 30);
  EXPECT_EQ(MapFromGovernorOptions(options), expected);
}

TEST(GovernorOptionsMapTest, EveryModeHasAName) {
  for (const char* const name : {"toggle", "proportional", "drains"}) {
    EXPECT_EQ(MapFromGovernorOptions(GovernorOptionsFromMap({{"mode", name}})).at("mode"), name);
  }
}

TEST(GovernorOptionsMapTest, MissingOptionsHaveDefaults) {
  const SettingsMap map = MapFromGovernorOptions(GovernorOptionsFromMap({}));
  EXPECT_EQ(map.at("mode"), "proportional");
  EXPECT_EQ(map.at("device_bytes_per_s"), "0");
  EXPECT_EQ(map.at("interval_us"), "10000000");
  EXPECT_EQ(map.at("merge_level0"), "true");
}

TEST(GovernorOptionsMapTest, ErrorsNameTheProblem) {
  EXPECT_NE(Refusal({{"modes", "toggle"}}).find("'modes'"), std::string::npos);
  EXPECT_NE(Refusal({{"mode", "off"}}).find("use one of toggle, proportional"), std::string::npos);
  EXPECT_NE(Refusal({{"debt_runs", "many"}}).find("not a whole number"), std::string::npos);
  EXPECT_NE(Refusal({{"debt_runs", "-1"}}).find("not a whole number"), std::string::npos);
  EXPECT_NE(Refusal({{"flush_share", "half"}}).find("not a number"), std::string::npos);
  EXPECT_NE(Refusal({{"flush_share", "1.5"}}).find("watermarks"), std::string::npos);
  EXPECT_NE(Refusal({{"flush_share", "nan"}}).find("watermarks"), std::string::npos);
  EXPECT_NE(Refusal({{"interval_us", "0"}}).find("interval_us"), std::string::npos);
  EXPECT_NE(Refusal({{"min_compaction_share", "0"}}).find("above 0 and at most 1"), std::string::npos);
  EXPECT_NE(Refusal({{"merge_level0", "1"}}).find("neither true nor false"), std::string::npos);
}

}  // namespace
}  // namespace rocktune
