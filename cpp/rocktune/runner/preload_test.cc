#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "rocktune/runner/runner_fixture.h"

namespace rocktune {
namespace {

class PreloadTest : public RunnerTest {};

TEST_F(PreloadTest, LoadsKeysInAscendingOrder) {
  family().preload = {.keys = 40, .random_order = false};
  Start();
  runner_->Load(NoProgress);
  const std::vector<std::string> loaded = store_.loaded();
  EXPECT_EQ(loaded.size(), 40u);
  EXPECT_TRUE(std::is_sorted(loaded.begin(), loaded.end()));
  EXPECT_TRUE(store_.flushed());
  EXPECT_TRUE(store_.calls().empty());
}

TEST_F(PreloadTest, LoadsEachKeyOnceInRandomOrder) {
  family().keys = 1000;
  family().preload = {.keys = 1000, .random_order = true};
  Start();
  runner_->Load(NoProgress);
  const std::vector<std::string> loaded = store_.loaded();
  EXPECT_EQ(std::set<std::string>(loaded.begin(), loaded.end()).size(), 1000u);
  EXPECT_EQ(loaded.size(), 1000u);
  EXPECT_FALSE(std::is_sorted(loaded.begin(), loaded.end()));
  for (uint64_t key = 0; key < 1000; ++key) {
    std::string encoded;
    EncodeKey(key, 16, &encoded);
    ASSERT_EQ(store_.entries().at(encoded).size(), 100u);
  }
}

TEST_F(PreloadTest, LoadsEachFamilysKeys) {
  family().preload = {.keys = 40, .random_order = false};
  plan_.workload.families.push_back({.name = "empty", .keys = 10});
  plan_.workload.families.push_back({.name = "small",
                                     .keys = 9,
                                     .key_bytes = 8,
                                     .preload = {.keys = 7, .random_order = true},
                                     .value = kValue});
  std::vector<LoadSpec>& loads = plan_.workload.sessions[0].loads;
  loads.resize(3, loads[0]);
  store_.families = 3;
  Start();
  EXPECT_EQ(runner_->Load(NoProgress), 47U);
  const std::vector<std::string> loaded = store_.loaded();
  EXPECT_EQ(loaded.size(), 47U);
  EXPECT_EQ(std::count_if(loaded.begin(), loaded.end(), [](const auto& key) { return key.size() == 16; }),
            40);
  EXPECT_EQ(
      std::count_if(loaded.begin(), loaded.end(), [](const auto& key) { return key.starts_with("2:"); }), 7);
}

}  // namespace
}  // namespace rocktune
