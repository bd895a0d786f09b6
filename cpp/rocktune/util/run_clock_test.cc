#include "rocktune/util/run_clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace rocktune {
namespace {

using std::chrono::milliseconds;
constexpr RunClock::Nanos kMillisecond = 1000000;

TEST(RunClockTest, IsZeroUntilStarted) {
  RunClock clock;
  EXPECT_FALSE(clock.running());
  EXPECT_EQ(clock.Now(), 0);
  std::this_thread::sleep_for(milliseconds(2));
  EXPECT_EQ(clock.Now(), 0);
}

TEST(RunClockTest, AdvancesOnlyWhileRunning) {
  RunClock clock;
  clock.Start();
  EXPECT_TRUE(clock.running());
  std::this_thread::sleep_for(milliseconds(2));
  clock.Stop();
  const RunClock::Nanos stopped_at = clock.Now();
  EXPECT_GE(stopped_at, 2 * kMillisecond);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(clock.Now(), stopped_at);

  // The 20 ms do not count after a restart: the bound is the steady time between these two readings.
  const auto before = std::chrono::steady_clock::now();
  clock.Start();
  const RunClock::Nanos now = clock.Now();
  const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - before;
  EXPECT_GE(now, stopped_at);
  EXPECT_LE(now - stopped_at, passed.count());
}

TEST(RunClockTest, RepeatedStartAndStopHaveNoEffect) {
  RunClock clock;
  clock.Start();
  std::this_thread::sleep_for(milliseconds(2));
  clock.Start();
  EXPECT_GE(clock.Now(), 2 * kMillisecond);
  clock.Stop();
  const RunClock::Nanos stopped_at = clock.Now();
  clock.Stop();
  EXPECT_EQ(clock.Now(), stopped_at);
}

TEST(RunClockTest, SleepsUntilTheTime) {
  RunClock clock;
  clock.Start();
  EXPECT_TRUE(clock.SleepUntil(3 * kMillisecond));
  EXPECT_GE(clock.Now(), 3 * kMillisecond);
  EXPECT_TRUE(clock.SleepUntil(0));
}

TEST(RunClockTest, SleepersWaitWhileStopped) {
  RunClock clock;
  clock.Start();
  std::atomic<bool> awake{false};
  std::thread sleeper([&] {
    EXPECT_TRUE(clock.SleepUntil(30 * kMillisecond));
    awake = true;
    EXPECT_GE(clock.Now(), 30 * kMillisecond);
  });
  clock.Stop();
  const RunClock::Nanos stopped_at = clock.Now();
  if (stopped_at < 30 * kMillisecond) {  // false only if the machine delayed this thread for that long
    std::this_thread::sleep_for(milliseconds(60));
    EXPECT_FALSE(awake);
    EXPECT_EQ(clock.Now(), stopped_at);
  }
  clock.Start();
  sleeper.join();
  EXPECT_TRUE(awake);
}

TEST(RunClockTest, SleepUntilAPastTimeWaitsWhileStopped) {
  RunClock clock;
  std::atomic<bool> returned{false};
  std::thread sleeper([&] {
    EXPECT_TRUE(clock.SleepUntil(0));
    returned = true;
  });
  std::this_thread::sleep_for(milliseconds(10));
  EXPECT_FALSE(returned);
  clock.Start();
  sleeper.join();
}

TEST(RunClockTest, WaitWhileStoppedReturnsOnlyWhileRunning) {
  RunClock clock;
  std::atomic<bool> returned{false};
  std::thread waiter([&] {
    EXPECT_TRUE(clock.WaitWhileStopped());
    returned = true;
  });
  std::this_thread::sleep_for(milliseconds(10));
  EXPECT_FALSE(returned);
  clock.Start();
  waiter.join();
  EXPECT_TRUE(clock.WaitWhileStopped());
}

TEST(RunClockTest, CloseEndsAllPresentAndLaterWaits) {
  constexpr RunClock::Nanos kAnHour = 3600 * 1000 * kMillisecond;
  RunClock running, stopped;
  running.Start();
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&] { EXPECT_FALSE(running.SleepUntil(kAnHour)); });
    waiters.emplace_back([&] { EXPECT_FALSE(stopped.SleepUntil(kAnHour)); });
    waiters.emplace_back([&] { EXPECT_FALSE(stopped.WaitWhileStopped()); });
  }
  std::this_thread::sleep_for(milliseconds(10));
  running.Close();
  stopped.Close();
  for (std::thread& waiter : waiters) {
    waiter.join();
  }
  EXPECT_TRUE(stopped.closed());
  EXPECT_FALSE(stopped.WaitWhileStopped());
  EXPECT_FALSE(running.SleepUntil(kAnHour));
  EXPECT_FALSE(running.SleepUntil(0));
}

// Readers see no time after a stop and no decreasing time while the clock is started and stopped.
TEST(RunClockTest, TimeNeverDecreasesAcrossStartsAndStops) {
  RunClock clock;
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      RunClock::Nanos last = 0;
      while (!done) {
        const RunClock::Nanos now = clock.Now();
        EXPECT_GE(now, last);
        last = now;
      }
    });
  }
  for (int i = 0; i < 2000; ++i) {
    clock.Start();
    clock.Stop();
    const RunClock::Nanos stopped_at = clock.Now();
    ASSERT_EQ(clock.Now(), stopped_at);
  }
  done = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
}

TEST(RunClockTest, ManySleepersWakeDespiteStartsAndStops) {
  RunClock clock;
  clock.Start();
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 32; ++i) {
    sleepers.emplace_back([&clock, i] {
      for (int k = 1; k <= 20; ++k) {
        const RunClock::Nanos time = k * kMillisecond / 2 + i * 1000;
        EXPECT_TRUE(clock.SleepUntil(time));
        EXPECT_GE(clock.Now(), time);
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    clock.Stop();
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    clock.Start();
  }
  for (std::thread& sleeper : sleepers) {
    sleeper.join();
  }
}

}  // namespace
}  // namespace rocktune
