#include "rocktune/util/thread_slot.h"

#include <gtest/gtest.h>

#include <barrier>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace rocktune {
namespace {

TEST(ThreadSlotTest, AThreadKeepsItsSlot) { EXPECT_EQ(ThreadSlot(), ThreadSlot()); }

TEST(ThreadSlotTest, LivingThreadsHaveDistinctSlots) {
  constexpr int kThreads = 20;
  std::barrier all_have_slots(kThreads);
  std::mutex mutex;
  std::set<std::size_t> slots = {ThreadSlot()};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      {
        std::lock_guard<std::mutex> lock(mutex);
        slots.insert(ThreadSlot());
      }
      all_have_slots.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(slots.size(), kThreads + 1u);
}

TEST(ThreadSlotTest, ASlotIsReusedAfterItsThreadEnds) {
  std::size_t first = 0;
  std::size_t second = 0;
  std::thread([&] { first = ThreadSlot(); }).join();
  std::thread([&] { second = ThreadSlot(); }).join();
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace rocktune
