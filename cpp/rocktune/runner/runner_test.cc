#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rocktune/runner/process_usage.h"
#include "rocktune/runner/runner_fixture.h"

namespace rocktune {
namespace {

TEST_F(RunnerTest, WindowsAreContiguous) {
  Start();
  const Measurement first = runner_->Advance({0.02}, NoProgress);
  const Measurement second = runner_->Advance({0.05}, NoProgress);
  EXPECT_EQ(first.from_s, 0);
  EXPECT_EQ(first.until_s, 0.02);
  EXPECT_EQ(second.from_s, 0.02);
  EXPECT_EQ(second.until_s, 0.05);
  EXPECT_EQ(first.series.operations.size(), 2u);  // intervals of 0.01 s
  EXPECT_EQ(second.series.operations.size(), 3u);
  EXPECT_EQ(second.series.stored_bytes.size(), 3u);
  EXPECT_LE(first.series.stored_bytes.back(), second.series.stored_bytes.front())
      << "they are no differences";
  EXPECT_EQ(second.series.live_bytes.back(), second.live.logical_bytes);
  EXPECT_EQ(second.series.memtables_bytes, std::vector<uint64_t>(3, FakeStore::kMemtableBytes));
}

TEST_F(RunnerTest, AWindowEndsAfterItsOperations) {
  Start();
  const Measurement first = runner_->Advance({3600, 500}, NoProgress);
  EXPECT_GE(Operations(first), 500u);
  EXPECT_GT(first.until_s, 0);
  EXPECT_LT(first.until_s, 3600);
  const Measurement second = runner_->Advance({first.until_s + 3600, 300}, NoProgress);
  EXPECT_EQ(second.from_s, first.until_s);
  EXPECT_GE(Operations(second), 300u);
  const double sampled =
      std::accumulate(second.series.operations.begin(), second.series.operations.end(), 0.0);
  EXPECT_NEAR(sampled, static_cast<double>(Operations(second)), 2) << "the shorter last interval counts, too";
  const Measurement third = runner_->Advance({second.until_s + 0.01, uint64_t{1} << 40}, NoProgress);
  EXPECT_EQ(third.until_s, second.until_s + 0.01) << "until_s comes first";
}

TEST_F(RunnerTest, WindowsAddUpToTheCallsOfTheStore) {
  SetMix({{OperationKind::kGet, 0.3},
          {OperationKind::kPut, 0.3},
          {OperationKind::kDelete, 0.2},
          {OperationKind::kScan, 0.2}});
  SetBurst();
  Start();
  const std::vector<Measurement> windows = PassBurst(runner_.get(), 0.03);
  const std::vector<FakeStore::Call> calls = store_.calls();
  ASSERT_EQ(calls.size(), kBurst);
  for (const auto& [kind, letter] :
       {std::pair(OperationKind::kGet, 'g'), std::pair(OperationKind::kPut, 'p'),
        std::pair(OperationKind::kDelete, 'd'), std::pair(OperationKind::kScan, 's')}) {
    const auto count =
        std::count_if(calls.begin(), calls.end(),
                      [letter = letter](const FakeStore::Call& call) { return call.operation == letter; });
    EXPECT_EQ(Sum(windows,
                  [kind = kind](const Measurement& window) {
                    return window.totals.operations[Index(kind)].latency_ns.count();
                  }),
              static_cast<uint64_t>(count))
        << letter;
    EXPECT_GT(count, 0);
  }
  EXPECT_EQ(Sum(windows,
                [](const Measurement& window) {
                  return std::accumulate(window.series.operations.begin(), window.series.operations.end(),
                                         uint64_t{0});
                }),
            kBurst);
  EXPECT_EQ(Sum(windows,
                [](const Measurement& window) {
                  const auto ticker = window.totals.tickers.find("fake.calls");
                  return ticker == window.totals.tickers.end() ? 0 : ticker->second;
                }),
            kBurst);
}

TEST_F(RunnerTest, CountsUserBytesAndLiveKeys) {
  SetMix({{OperationKind::kPut, 0.6}, {OperationKind::kDelete, 0.4}});
  SetBurst();
  Start();
  const std::vector<Measurement> windows = PassBurst(runner_.get(), 0.2);
  const std::vector<FakeStore::Call> calls = store_.calls();
  const auto puts = static_cast<uint64_t>(std::count_if(
      calls.begin(), calls.end(), [](const FakeStore::Call& call) { return call.operation == 'p'; }));
  // A put writes 16 + 100 bytes, a delete only the key.
  EXPECT_EQ(Sum(windows, [](const Measurement& window) { return window.totals.user_bytes_written; }),
            puts * 116 + (kBurst - puts) * 16);
  const uint64_t live = store_.entries().size();
  EXPECT_GT(live, 0u);
  EXPECT_LT(live, 50u);
  EXPECT_EQ(windows.back().live.keys, live);
  EXPECT_EQ(windows.back().live.logical_bytes, live * 116);
}

TEST_F(RunnerTest, RangeDeletesTakeKeysFromStoreAndCount) {
  family().preload = {.keys = 50, .random_order = false};
  SetMix({{OperationKind::kPut, 0.7}, {OperationKind::kDeleteRange, 0.3}});
  plan_.workload.sessions[0].loads[0].delete_range_keys = {.kind = "fixed", .low = 10};
  // Threads that write the same key at the same time may make the count differ from the store.
  plan_.workload.threads = 1;
  SetBurst();
  Start();
  EXPECT_EQ(runner_->Load(NoProgress), 50u);
  const std::vector<Measurement> windows = PassBurst(runner_.get(), 0.2);
  const std::vector<FakeStore::Call> calls = store_.calls();
  const auto ranges = static_cast<uint64_t>(std::count_if(
      calls.begin(), calls.end(), [](const FakeStore::Call& call) { return call.operation == 'r'; }));
  EXPECT_GT(ranges, 20u);
  EXPECT_EQ(Sum(windows,
                [](const Measurement& window) {
                  return window.totals.operations[Index(OperationKind::kDeleteRange)].latency_ns.count();
                }),
            ranges);
  // A put writes 16 + 100 bytes, a range delete its first key and its end.
  EXPECT_EQ(Sum(windows, [](const Measurement& window) { return window.totals.user_bytes_written; }),
            (kBurst - ranges) * 116 + ranges * 32);
  const uint64_t live = store_.entries().size();
  EXPECT_GT(live, 0u);
  EXPECT_LT(live, 40u);
  EXPECT_EQ(windows.back().live.keys, live);
}

TEST_F(RunnerTest, CountsReadsThatFindTheirKey) {
  family().preload = {.keys = 50, .random_order = false};
  SetMix(
      {{OperationKind::kGet, 0.4}, {OperationKind::kGetAbsent, 0.3}, {OperationKind::kReadModifyWrite, 0.3}});
  SetBurst();
  Start();
  EXPECT_EQ(runner_->Load(NoProgress), 50u);
  const std::vector<Measurement> windows = PassBurst(runner_.get(), 0.2);
  const auto count = [&](OperationKind kind) {
    return Sum(windows, [kind](const Measurement& window) {
      return window.totals.operations[Index(kind)].latency_ns.count();
    });
  };
  const auto found = [&](OperationKind kind) {
    return Sum(windows,
               [kind](const Measurement& window) { return window.totals.operations[Index(kind)].found; });
  };
  EXPECT_EQ(found(OperationKind::kGet), count(OperationKind::kGet));
  EXPECT_EQ(found(OperationKind::kReadModifyWrite), count(OperationKind::kReadModifyWrite));
  EXPECT_GT(count(OperationKind::kGetAbsent), 0u);
  EXPECT_EQ(found(OperationKind::kGetAbsent), 0u);
  EXPECT_EQ(Sum(windows, [](const Measurement& window) { return window.totals.user_bytes_read; }),
            116 * (found(OperationKind::kGet) + found(OperationKind::kReadModifyWrite)));
}

// A second run with the fixture's plan and a store of its own.
class Rerun {
 public:
  explicit Rerun(const RunPlan& plan) : runner(RunParts{&store, &clock, &device}, plan) {}

  RunClock clock;
  FakeStore store;
  ThrottledFileSystemImpl device{rocksdb::FileSystem::Default(), DeviceSpec(), &clock};
  Runner runner;
};

TEST_F(RunnerTest, NumberOfWindowsDoesNotChangeTheOperations) {
  SetMix({{OperationKind::kGet, 0.5}, {OperationKind::kPut, 0.5}});
  SetBurst();
  Rerun often(plan_);
  PassBurst(&often.runner, 0.01);
  Rerun never(plan_);
  PassBurst(&never.runner, 0.3);
  EXPECT_EQ(SortedCalls(&often.store), SortedCalls(&never.store));
}

TEST_F(RunnerTest, AnotherSeedGivesOtherOperations) {
  SetBurst();
  Rerun one(plan_);
  PassBurst(&one.runner, 0.3);
  plan_.seed = 8;
  Rerun other(plan_);
  PassBurst(&other.runner, 0.3);
  EXPECT_EQ(SortedCalls(&one.store).size(), kBurst);
  EXPECT_EQ(SortedCalls(&other.store).size(), kBurst);
  EXPECT_NE(SortedCalls(&one.store), SortedCalls(&other.store));
}

TEST_F(RunnerTest, NoOperationBeginsBetweenWindows) {
  Start();
  runner_->Advance({0.02}, NoProgress);
  const std::size_t at_stop = store_.calls().size();
  const RunClock::Nanos time = clock_.Now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  // Operations that had begun before the stop may end.
  EXPECT_LE(store_.calls().size(), at_stop + plan_.workload.threads);
  EXPECT_EQ(clock_.Now(), time);
}

TEST_F(RunnerTest, ClosedLoopLatenciesAddUpToTheTime) {
  plan_.workload.threads = 1;
  store_.before_operation = [this] {
    clock_.SleepUntil(clock_.Now() + 2'000'000);  // an operation takes 2 ms of run time
    return rocksdb::Status::OK();
  };
  Start();
  const Measurement window = runner_->Advance({0.05}, NoProgress);
  const Histogram::Snapshot& latency = window.totals.operations[Index(OperationKind::kPut)].latency_ns;
  EXPECT_GT(latency.count(), 0u);
  EXPECT_LE(latency.count(), 25u);  // 50 ms / 2 ms
  EXPECT_GE(latency.sum(), latency.count() * 2'000'000);
  EXPECT_LE(latency.sum(), static_cast<uint64_t>(clock_.Now()));
}

TEST_F(RunnerTest, OpenLoopLatenciesCountFromTheIntendedStart) {
  plan_.workload.threads = 1;
  plan_.workload.sessions[0].arrival = {.kind = "fixed_rate", .operations_s = 1000};
  store_.before_operation = [this] {
    clock_.SleepUntil(clock_.Now() + 4'000'000);
    return rocksdb::Status::OK();
  };
  Start();
  const Measurement window = runner_->Advance({0.06}, NoProgress);
  const Histogram::Snapshot& latency = window.totals.operations[Index(OperationKind::kPut)].latency_ns;
  // Operation i is to start at about i ms and ends at 4 (i + 1) ms or later, so its latency is at least 3 i
  // ms. The sum over n operations is at least 3 n (n - 1) / 2 ms.
  const uint64_t n = latency.count();
  ASSERT_GT(n, 2u);
  EXPECT_GE(latency.sum(), 3 * n * (n - 1) / 2 * 1'000'000);
}

TEST_F(RunnerTest, SamplesStalls) {
  Start();
  store_.condition = WriteCondition::kStopped;
  const Measurement first = runner_->Advance({0.05}, NoProgress);
  EXPECT_GT(first.totals.stalls.stopped_ns, 0);
  EXPECT_EQ(first.totals.stalls.stalled_ns, first.totals.stalls.stopped_ns);
  EXPECT_GT(first.max_write_stop_s, 0);
  store_.condition = WriteCondition::kDelayed;
  const Measurement second = runner_->Advance({0.1}, NoProgress);
  EXPECT_GT(second.totals.stalls.stalled_ns, second.totals.stalls.stopped_ns);
  store_.condition = WriteCondition::kNormal;
  runner_->Advance({0.15}, NoProgress);
  const Measurement last = runner_->Advance({0.2}, NoProgress);
  EXPECT_EQ(last.totals.stalls.stalled_ns, 0);
  EXPECT_EQ(last.max_write_stop_s, 0);
}

TEST_F(RunnerTest, StartsTheClockIfTheStateNeedsIt) {
  // Simulates a thread that holds RocksDB's mutex while it waits for the stopped device.
  store_.before_state = [this] { clock_.WaitWhileStopped(); };
  Start();
  const Measurement window = runner_->Advance({0.01}, NoProgress);
  EXPECT_EQ(window.until_s, 0.01);
  EXPECT_FALSE(clock_.running());
}

TEST_F(RunnerTest, NoOperationBeginsWhileTheStateIsRead) {
  std::size_t max_begun = 0;
  store_.before_state = [&] {
    const std::size_t before = store_.calls().size();
    // The runner starts the clock for this, although the window has ended.
    clock_.WaitWhileStopped();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    max_begun = std::max(max_begun, store_.calls().size() - before);
  };
  Start();
  double age_s = 0;
  for (int mission = 0; mission < 2; ++mission) {
    age_s = runner_->Advance({age_s + 3600, 100}, NoProgress).until_s;
  }
  EXPECT_LE(max_begun, plan_.workload.threads) << "only operations that had begun may end";
}

TEST_F(RunnerTest, ChargesNoCpuTimeForMeasuring) {
  constexpr double kLookS = 0.3;
  double looked_s = 0;
  store_.before_state = [&] {
    const double from_s = CallingThreadCpuSeconds();
    while (CallingThreadCpuSeconds() - from_s < kLookS) {
    }
    looked_s += kLookS;
  };
  Start();
  double cpu_s = 0;
  for (int window = 1; window <= 3; ++window) {
    cpu_s += runner_->Advance({0.001 * window}, NoProgress).totals.cpu_s;
  }
  EXPECT_GT(looked_s, 0.8);
  EXPECT_GT(cpu_s, 0);
  EXPECT_LT(cpu_s, kLookS) << "not even one of three looks";
}

TEST_F(RunnerTest, ReportsProgress) {
  Start();
  std::vector<double> done;
  runner_->Advance({0.8}, [&](const char* phase, double seconds, double total) {
    EXPECT_EQ(std::string(phase), "advance");
    EXPECT_DOUBLE_EQ(total, 0.8);
    done.push_back(seconds);
  });
  EXPECT_FALSE(done.empty());
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

TEST_F(RunnerTest, MeasuresEachFamily) {
  plan_.workload.families.push_back({.name = "second", .keys = 7, .key_bytes = 8});
  std::vector<LoadSpec>& loads = plan_.workload.sessions[0].loads;
  loads.push_back(loads[0]);
  loads[0].share = 0.25;
  loads[1].share = 0.75;
  loads[1].value.low = 900;
  store_.families = 2;
  SetBurst();
  Start();
  const std::vector<Measurement> windows = PassBurst(runner_.get(), 0.05);
  const auto puts_of = [&](std::size_t family) {
    return Sum(windows, [family](const Measurement& window) {
      return window.totals.families[family].operations[Index(OperationKind::kPut)].latency_ns.count();
    });
  };
  EXPECT_EQ(puts_of(0) + puts_of(1), kBurst);
  EXPECT_LT(puts_of(0), puts_of(1));
  EXPECT_EQ(
      Sum(windows, [](const Measurement& window) { return window.totals.families[1].user_bytes_written; }),
      puts_of(1) * (8 + 900));
  const Measurement& last = windows.back();
  EXPECT_EQ(last.families, (std::vector<std::string>{"default", "second"}));
  EXPECT_EQ(last.live_of[1].keys, 7U);
  EXPECT_EQ(last.live_of[1].logical_bytes, 7U * (8 + 900));
  EXPECT_EQ(last.live.keys, store_.entries().size());
}

}  // namespace
}  // namespace rocktune
