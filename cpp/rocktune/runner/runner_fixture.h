#pragma once

#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/device/throttled_file_system.h"
#include "rocktune/runner/fake_store.h"
#include "rocktune/runner/runner.h"

namespace rocktune {

inline constexpr auto Index(OperationKind kind) { return static_cast<std::size_t>(kind); }

// A Progress that ignores its calls.
inline void NoProgress(const char* /*phase*/, double /*done*/, double /*total*/) {}

// A fixture with a runner on a FakeStore and an unlimited device. By default two threads put 100-byte values
// in a closed loop. Tests change plan_ before Start.
class RunnerTest : public testing::Test {
 protected:
  RunnerTest() {
    plan_.workload.families = {{.keys = 50, .key_bytes = 16, .value = kValue}};
    plan_.workload.threads = 2;
    SetMix({{OperationKind::kPut, 1.0}});
    plan_.seed = 7;
    plan_.series_interval_s = 0.01;
  }

  // Sets the mix of the single session.
  void SetMix(const std::vector<std::pair<OperationKind, double>>& mix) {
    LoadSpec load{.value = kValue, .scan_length = {.kind = "fixed", .low = 3, .high = 3}};
    for (const auto& [kind, share] : mix) {
      load.mix[Index(kind)] = share;
    }
    SessionSpec session{.loads = {load}};
    session.arrival = plan_.workload.sessions.empty() ? ArrivalSpec() : plan_.workload.sessions[0].arrival;
    plan_.workload.sessions = {session};
  }

  // Makes 200 operations start in the first 0.1 s, and no further one for an hour, so that their number does
  // not depend on the machine's speed.
  void SetBurst() {
    plan_.workload.sessions[0].arrival = {
        .kind = "bursts", .operations_s = 2000, .period_s = 3600, .on_s = 0.1};
  }
  static constexpr uint64_t kBurst = 200;

  // Creates the runner.
  void Start() { runner_ = std::make_unique<Runner>(RunParts{&store_, &clock_, &device_}, plan_); }

  // Advances in windows of `step_s` until all operations of the burst are complete. Returns the windows.
  static std::vector<Measurement> PassBurst(Runner* runner, double step_s) {
    std::vector<Measurement> windows;
    uint64_t operations = 0;
    for (int step = 1; operations < kBurst && step < 3000; ++step) {
      windows.push_back(runner->Advance({step * step_s}, NoProgress));
      operations += Operations(windows.back());
    }
    return windows;
  }

  // Returns the number of operations of all kinds.
  static uint64_t Operations(const Measurement& window) {
    return std::accumulate(
        window.totals.operations.begin(), window.totals.operations.end(), uint64_t{0},
        [](uint64_t sum, const OperationTotals& totals) { return sum + totals.latency_ns.count(); });
  }

  // Returns the sum over the windows of a figure.
  template <typename Figure>
  static uint64_t Sum(const std::vector<Measurement>& windows, Figure figure) {
    return std::accumulate(windows.begin(), windows.end(), uint64_t{0},
                           [&](uint64_t sum, const Measurement& window) { return sum + figure(window); });
  }

  // Returns the store's calls in an order that does not depend on the threads' timing.
  static std::vector<std::string> SortedCalls(FakeStore* store) {
    std::vector<std::string> calls;
    for (const FakeStore::Call& call : store->calls()) {
      calls.push_back(call.operation + call.key);
    }
    std::sort(calls.begin(), calls.end());
    return calls;
  }

  // The column family with index 0.
  FamilySpec& family() { return plan_.workload.families[0]; }

  inline static const SizeSpec kValue = {.kind = "fixed", .low = 100, .high = 100};
  RunPlan plan_;
  RunClock clock_;
  FakeStore store_;
  ThrottledFileSystemImpl device_{rocksdb::FileSystem::Default(), DeviceSpec(), &clock_};
  std::unique_ptr<Runner> runner_;
};

}  // namespace rocktune
