#include "rocktune/runner/runner.h"

#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rocktune/runner/fake_store.h"
#include "rocktune/runner/run_error.h"

namespace rocktune {
namespace {

constexpr auto Index(OperationKind kind) { return static_cast<std::size_t>(kind); }

void NoProgress(const char* /*phase*/, double /*done*/, double /*total*/) {}

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() {
    plan_.workload.keys = 50;
    plan_.workload.key_bytes = 16;
    plan_.workload.value = {.kind = "fixed", .low = 100, .high = 100};
    plan_.workload.threads = 2;
    plan_.workload.scan_length = {.kind = "fixed", .low = 3, .high = 3};
    SetMix({{OperationKind::kPut, 1.0}});
    plan_.seed = 7;
    plan_.series_interval_s = 0.01;
  }

  void SetMix(const std::vector<std::pair<OperationKind, double>>& mix) {
    SessionSpec session;
    for (const auto& [kind, share] : mix) {
      session.mix[Index(kind)] = share;
    }
    session.arrival = plan_.workload.sessions.empty() ? ArrivalSpec() : plan_.workload.sessions[0].arrival;
    plan_.workload.sessions = {session};
  }

  // 200 operations in the first 0.1 s and none in the hour behind, so that counts do not depend on how fast
  // this machine is.
  void SetBurst() {
    plan_.workload.sessions[0].arrival = {
        .kind = "bursts", .operations_s = 2000, .period_s = 3600, .on_s = 0.1};
  }
  static constexpr uint64_t kBurst = 200;

  void Start() { runner_ = std::make_unique<Runner>(RunParts{&store_, &clock_, &device_}, plan_); }

  // Advances by `step_s` until the whole burst is through, however slow this machine is.
  static std::vector<Measurement> PassBurst(Runner* runner, double step_s) {
    std::vector<Measurement> windows;
    uint64_t operations = 0;
    for (int step = 1; operations < kBurst && step < 3000; ++step) {
      windows.push_back(runner->Advance({step * step_s}, NoProgress));
      operations += Operations(windows.back());
    }
    return windows;
  }

  static uint64_t Operations(const Measurement& window) {
    return std::accumulate(
        window.totals.operations.begin(), window.totals.operations.end(), uint64_t{0},
        [](uint64_t sum, const OperationTotals& totals) { return sum + totals.latency_ns.count(); });
  }

  template <typename Figure>
  static uint64_t Sum(const std::vector<Measurement>& windows, Figure figure) {
    return std::accumulate(windows.begin(), windows.end(), uint64_t{0},
                           [&](uint64_t sum, const Measurement& window) { return sum + figure(window); });
  }

  // Calls in an order that does not depend on which thread came first.
  static std::vector<std::string> SortedCalls(FakeStore* store) {
    std::vector<std::string> calls;
    for (const FakeStore::Call& call : store->calls()) {
      calls.push_back(call.operation + call.key);
    }
    std::sort(calls.begin(), calls.end());
    return calls;
  }

  RunPlan plan_;
  RunClock clock_;
  FakeStore store_;
  ThrottledFileSystemImpl device_{rocksdb::FileSystem::Default(), DeviceSpec(), &clock_};
  std::unique_ptr<Runner> runner_;
};

TEST_F(RunnerTest, WindowsFollowEachOther) {
  Start();
  const Measurement first = runner_->Advance({0.02}, NoProgress);
  const Measurement second = runner_->Advance({0.05}, NoProgress);
  EXPECT_EQ(first.from_s, 0);
  EXPECT_EQ(first.until_s, 0.02);
  EXPECT_EQ(second.from_s, 0.02);
  EXPECT_EQ(second.until_s, 0.05);
  EXPECT_EQ(first.series.operations.size(), 2u);  // intervals of 0.01 s
  EXPECT_EQ(second.series.operations.size(), 3u);
}

TEST_F(RunnerTest, AWindowEndsWhenItsOperationsAreDone) {
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
  EXPECT_NEAR(sampled, static_cast<double>(Operations(second)), 2) << "of the last part too";
  const Measurement third = runner_->Advance({second.until_s + 0.01, uint64_t{1} << 40}, NoProgress);
  EXPECT_EQ(third.until_s, second.until_s + 0.01) << "time was up first";
}

TEST_F(RunnerTest, WindowsAddUpToWhatTheStoreSaw) {
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

TEST_F(RunnerTest, CountsTheUsersBytesAndLiveKeys) {
  SetMix({{OperationKind::kPut, 0.6}, {OperationKind::kDelete, 0.4}});
  SetBurst();
  Start();
  const std::vector<Measurement> windows = PassBurst(runner_.get(), 0.2);
  const std::vector<FakeStore::Call> calls = store_.calls();
  const auto puts = static_cast<uint64_t>(std::count_if(
      calls.begin(), calls.end(), [](const FakeStore::Call& call) { return call.operation == 'p'; }));
  // A put writes key and value, 16 + 100 bytes; a delete the key alone.
  EXPECT_EQ(Sum(windows, [](const Measurement& window) { return window.totals.user_bytes_written; }),
            puts * 116 + (kBurst - puts) * 16);
  const uint64_t live = store_.entries().size();
  EXPECT_GT(live, 0u);
  EXPECT_LT(live, 50u);
  EXPECT_EQ(windows.back().live_keys, live);
  EXPECT_EQ(windows.back().logical_bytes, live * 116);
}

TEST_F(RunnerTest, CountsWhatReadsFound) {
  plan_.workload.preload = {.keys = 50, .random_order = false};
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

// A run of its own under the fixture's plan.
class Rerun {
 public:
  explicit Rerun(const RunPlan& plan) : runner(RunParts{&store, &clock, &device}, plan) {}

  RunClock clock;
  FakeStore store;
  ThrottledFileSystemImpl device{rocksdb::FileSystem::Default(), DeviceSpec(), &clock};
  Runner runner;
};

TEST_F(RunnerTest, ParksChangeNothing) {
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

TEST_F(RunnerTest, NothingBeginsBetweenWindows) {
  Start();
  runner_->Advance({0.02}, NoProgress);
  const std::size_t at_stop = store_.calls().size();
  const RunClock::Nanos time = clock_.Now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  // Operations that had begun may end.
  EXPECT_LE(store_.calls().size(), at_stop + plan_.workload.threads);
  EXPECT_EQ(clock_.Now(), time);
}

TEST_F(RunnerTest, ClosedLoopLatenciesFillTheTime) {
  plan_.workload.threads = 1;
  store_.before_operation = [this] {
    clock_.SleepUntil(clock_.Now() + 2'000'000);  // an operation takes 2 ms of run time
    return rocksdb::Status::OK();
  };
  Start();
  const Measurement window = runner_->Advance({0.05}, NoProgress);
  const Histogram::Snapshot& latency = window.totals.operations[Index(OperationKind::kPut)].latency_ns;
  EXPECT_GT(latency.count(), 0u);
  EXPECT_LE(latency.count(), 25u);  // 50 ms by 2 ms
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
  // Operation i is meant to start at about i ms and ends at 4 (i + 1) ms or later: its latency is at least
  // 3 i ms, which sums to 3 n (n - 1) / 2 ms over n operations.
  const uint64_t n = latency.count();
  ASSERT_GT(n, 2u);
  EXPECT_GE(latency.sum(), 3 * n * (n - 1) / 2 * 1'000'000);
}

TEST_F(RunnerTest, AFailedOperationEndsTheRun) {
  std::atomic<int> calls{0};
  store_.before_operation = [&] {
    return ++calls < 10 ? rocksdb::Status::OK() : rocksdb::Status::IOError("broken");
  };
  Start();
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      runner_->Advance({3600}, NoProgress);
      FAIL() << "the failure was not noticed";
    } catch (const RunError& error) {
      EXPECT_EQ(error.failure(), RunFailure::kCrashed);
      EXPECT_NE(std::string(error.what()).find("broken"), std::string::npos);
    }
  }
}

TEST_F(RunnerTest, AFullDiskIsAFailureOfItsOwn) {
  store_.before_operation = [] { return rocksdb::Status::NoSpace("full"); };
  Start();
  try {
    runner_->Advance({3600}, NoProgress);
    FAIL() << "the failure was not noticed";
  } catch (const RunError& error) {
    EXPECT_EQ(error.failure(), RunFailure::kOutOfDisk);
  }
}

TEST_F(RunnerTest, AFailureToldBetweenWindowsEndsTheNextOne) {
  Start();
  runner_->Advance({0.01}, NoProgress);
  runner_->Fail(rocksdb::Status::Corruption("background"));
  EXPECT_THROW(runner_->Advance({0.02}, NoProgress), RunError);
}

TEST_F(RunnerTest, RefusesToGoBack) {
  Start();
  runner_->Advance({0.02}, NoProgress);
  EXPECT_THROW(runner_->Advance({0.02}, NoProgress), RunError);
  EXPECT_THROW(runner_->Advance({0.01}, NoProgress), RunError);
  EXPECT_EQ(runner_->Advance({0.03}, NoProgress).from_s, 0.02);
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

TEST_F(RunnerTest, LetsAStoreGoOnThatCannotTellItsStateOtherwise) {
  // As when a thread holds RocksDB's mutex and waits for the device, which grants nothing.
  store_.before_state = [this] { clock_.WaitWhileStopped(); };
  Start();
  const Measurement window = runner_->Advance({0.01}, NoProgress);
  EXPECT_EQ(window.until_s, 0.01);
  EXPECT_FALSE(clock_.running());
}

TEST_F(RunnerTest, NothingBeginsWhileTheStoreTellsItsState) {
  std::size_t max_begun = 0;
  store_.before_state = [&] {
    const std::size_t before = store_.calls().size();
    // The clock has to run for that, although the window has ended.
    clock_.WaitWhileStopped();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    max_begun = std::max(max_begun, store_.calls().size() - before);
  };
  Start();
  double age_s = 0;
  for (int mission = 0; mission < 2; ++mission) {
    age_s = runner_->Advance({age_s + 3600, 100}, NoProgress).until_s;
  }
  EXPECT_LE(max_begun, plan_.workload.threads) << "those that had begun before it was asked may end";
}

TEST_F(RunnerTest, LoadsKeysInOrder) {
  plan_.workload.preload = {.keys = 40, .random_order = false};
  Start();
  runner_->Load(NoProgress);
  const std::vector<std::string> loaded = store_.loaded();
  EXPECT_EQ(loaded.size(), 40u);
  EXPECT_TRUE(std::is_sorted(loaded.begin(), loaded.end()));
  EXPECT_TRUE(store_.flushed());
  EXPECT_TRUE(store_.calls().empty());
}

TEST_F(RunnerTest, LoadsEachKeyOnceInRandomOrder) {
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

TEST_F(RunnerTest, LoadingThatFailsIsAFailure) {
  plan_.workload.preload = {.keys = 40, .random_order = true};
  store_.before_operation = [] { return rocksdb::Status::NoSpace("full"); };
  Start();
  try {
    runner_->Load(NoProgress);
    FAIL() << "the failure was not noticed";
  } catch (const RunError& error) {
    EXPECT_EQ(error.failure(), RunFailure::kOutOfDisk);
  }
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

}  // namespace
}  // namespace rocktune
