#include "rocktune/runner/live_keys.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include "rocktune/workload/random.h"

namespace rocktune {
namespace {

TEST(LiveKeysTest, BehavesLikeASet) {
  LiveKeys live;
  std::set<uint64_t> expected;
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    // Keys on both sides of the boundary of a chunk, 2^22.
    const uint64_t key = (uint64_t{1} << 22) - 500 + random.Below(1000);
    if (random.Below(2) == 0) {
      EXPECT_EQ(live.Add(key), expected.insert(key).second ? 1 : 0);
    } else {
      EXPECT_EQ(live.Remove(key), expected.erase(key) == 1 ? -1 : 0);
    }
  }
}

TEST(LiveKeysTest, RemovesRangesLikeASet) {
  LiveKeys live;
  live.AddFirst(1000);
  std::set<uint64_t> expected;
  for (uint64_t key = 0; key < 1000; ++key) {
    expected.insert(key);
  }
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t first = random.Below(1000);
    const uint64_t keys = 1 + random.Below(200);
    const auto begin = expected.lower_bound(first);
    const auto end = expected.lower_bound(first + keys);
    EXPECT_EQ(live.RemoveRange(first, keys), -static_cast<int64_t>(std::distance(begin, end)));
    expected.erase(begin, end);
    for (int puts = 0; puts < 100; ++puts) {
      const uint64_t key = random.Below(1000);
      EXPECT_EQ(live.Add(key), expected.insert(key).second ? 1 : 0);
    }
  }
}

TEST(LiveKeysTest, AddsTheFirstKeys) {
  for (const uint64_t keys : {0, 1, 63, 64, 65, 1000}) {
    LiveKeys live;
    live.AddFirst(keys);
    for (uint64_t key = 0; key < 1100; ++key) {
      EXPECT_EQ(live.Add(key), key < keys ? 0 : 1) << key << " of " << keys;
    }
  }
}

TEST(LiveKeysTest, ExactlyOneThreadAddsEachKey) {
  constexpr uint64_t kKeys = 100000;
  LiveKeys live;
  std::vector<int64_t> added(4);
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < added.size(); ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t key = 0; key < kKeys; ++key) {
        added[thread] += live.Add(key);
      }
    });
  }
  int64_t sum = 0;
  for (std::size_t thread = 0; thread < added.size(); ++thread) {
    threads[thread].join();
    sum += added[thread];
  }
  EXPECT_EQ(sum, static_cast<int64_t>(kKeys));
}

}  // namespace
}  // namespace rocktune
