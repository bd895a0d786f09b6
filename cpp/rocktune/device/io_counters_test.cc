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
  const DeviceCounters sums = counters->Counters();
  EXPECT_EQ(sums.bytes, (std::array<uint64_t, kIoCauseCount>{110, 0, 0, 0, 0, 1}));
  EXPECT_EQ(sums.operations, (std::array<uint64_t, kIoCauseCount>{3, 0, 0, 0, 0, 0}));
}

// More threads than there are own shards, and then a second set of threads that reuses the slots.
TEST(IoCountersTest, LosesNoCountOfManyThreads) {
  constexpr int kThreads = 150;
  const auto counters = std::make_unique<IoCounters>();
  for (int round = 0; round < 2; ++round) {
    std::barrier all_started(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        all_started.arrive_and_wait();
        for (int k = 0; k < 1000; ++k) {
          counters->Add(IoCause::kUserRead, 3, 1);
        }
        all_started.arrive_and_wait();
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  const DeviceCounters sums = counters->Counters();
  EXPECT_EQ(sums.bytes[static_cast<std::size_t>(IoCause::kUserRead)], 2u * kThreads * 1000 * 3);
  EXPECT_EQ(sums.operations[static_cast<std::size_t>(IoCause::kUserRead)], 2u * kThreads * 1000);
}

}  // namespace
}  // namespace rocktune
