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
  plan_.workload.preload = {.keys = 40, .random_order = false};
  Start();
  runner_->Load(NoProgress);
  const std::vector<std::string> loaded = store_.loaded();
  EXPECT_EQ(loaded.size(), 40u);
  EXPECT_TRUE(std::is_sorted(loaded.begin(), loaded.end()));
  EXPECT_TRUE(store_.flushed());
  EXPECT_TRUE(store_.calls().empty());
}

TEST_F(PreloadTest, LoadsEachKeyOnceInRandomOrder) {
  plan_.workload.keys = 1000;
  plan_.workload.preload = {.keys = 1000, .random_order = true};
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

}  // namespace
}  // namespace rocktune
