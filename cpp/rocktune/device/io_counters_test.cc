#include "rocktune/device/io_counters.h"

#include <gtest/gtest.h>

#include <barrier>
#include <memory>
#include <thread>
#include <vector>

namespace rocktune {
namespace {

TEST(IoCountersTest, CountsByCause) {
  const auto counters = std::make_unique<IoCounters>();
  counters->Add(IoCause::kWal, 100, 1);
  counters->Add(IoCause::kWal, 10, 2);
  counters->Add(IoCause::kOther, 1, 0);
  const DeviceCounters taken = counters->Take();
  EXPECT_EQ(taken.bytes, (std::array<uint64_t, kIoCauseCount>{110, 0, 0, 0, 0, 1}));
  EXPECT_EQ(taken.operations, (std::array<uint64_t, kIoCauseCount>{3, 0, 0, 0, 0, 0}));
}

// More threads at once than have shards of their own, and then others in their place.
TEST(IoCountersTest, LosesNothingHoweverManyThreadsCount) {
  constexpr int kThreads = 150;
  const auto counters = std::make_unique<IoCounters>();
  for (int round = 0; round < 2; ++round) {
    std::barrier all_there(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        all_there.arrive_and_wait();
        for (int k = 0; k < 1000; ++k) {
          counters->Add(IoCause::kUserRead, 3, 1);
        }
        all_there.arrive_and_wait();
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  const DeviceCounters taken = counters->Take();
  EXPECT_EQ(taken.bytes[static_cast<std::size_t>(IoCause::kUserRead)], 2u * kThreads * 1000 * 3);
  EXPECT_EQ(taken.operations[static_cast<std::size_t>(IoCause::kUserRead)], 2u * kThreads * 1000);
}

}  // namespace
}  // namespace rocktune
