#include "worker/shaping.h"

#include <gtest/gtest.h>

#include <string>

#include "rocktune/runner/run_error.h"

namespace rocktune {
namespace {

std::string Refusal(const OptionMaps::Map& map) {
  try {
    FlsmOptionsFromMap(map);
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

TEST(ShapingTest, ALayoutIsReadAndWrittenBack) {
  const OptionMaps::Map map = {{"size_ratio", "4"},  {"level1_bytes", "1M"},  {"levels", "5"},
                               {"workers", "2"},     {"bits_per_key", "4.5"}, {"filters", "monkey"},
                               {"policies", "4,2,1"}};
  const FlsmOptions layout = FlsmOptionsFromMap(map);
  EXPECT_EQ(layout.level1_bytes, uint64_t{1} << 20);
  EXPECT_EQ(layout.policies, std::vector<int>({4, 2, 1}));
  EXPECT_EQ(layout.filters.scheme, FlsmFilters::Scheme::kMonkey);
  OptionMaps::Map expected = map;
  expected["level1_bytes"] = "1048576";
  EXPECT_EQ(MapFromFlsmOptions(layout), expected);
}

TEST(ShapingTest, WhatIsNotNamedHasItsDefault) {
  const OptionMaps::Map map = MapFromFlsmOptions(FlsmOptionsFromMap({}));
  EXPECT_EQ(map.at("size_ratio"), "10");
  EXPECT_EQ(map.at("policies"), "1");
  EXPECT_EQ(map.at("filters"), "uniform");
}

TEST(ShapingTest, NamesWhatIsWrong) {
  EXPECT_NE(Refusal({{"sise_ratio", "4"}}).find("'sise_ratio'"), std::string::npos);
  EXPECT_NE(Refusal({{"filters", "none"}}).find("none of uniform, monkey"), std::string::npos);
  for (const char* policies : {"", "4,", ",4", "4;2", "-1", "four", "100"}) {
    EXPECT_NE(Refusal({{"policies", policies}}).find("no list of whole numbers"), std::string::npos)
        << policies;
  }
  EXPECT_NE(Refusal({{"levels", "99999999999"}}).find("too large"), std::string::npos);
}

}  // namespace
}  // namespace rocktune
