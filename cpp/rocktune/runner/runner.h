#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "rocktune/runner/live_keys.h"
#include "rocktune/runner/load_gate.h"
#include "rocktune/runner/load_thread.h"
#include "rocktune/runner/measurement.h"
#include "rocktune/runner/progress.h"
#include "rocktune/runner/stall_tracker.h"
#include "rocktune/runner/store.h"
#include "rocktune/throttled_file_system.h"
#include "rocktune/util/run_clock.h"
#include "rocktune/workload/operation_stream.h"
#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// What a run is made of. All must outlive the runner.
struct RunParts {
  Store* store = nullptr;
  RunClock* clock = nullptr;  // the runner's alone to start and stop
  ThrottledFileSystem* device = nullptr;
};

// Where a window ends: at the run's age `until_s`, or as soon as so many operations have ended in it.
struct WindowEnd {
  double until_s = 0;
  uint64_t operations = 0;  // 0: however many
};

struct RunPlan {
  WorkloadSpec workload;
  uint64_t seed = 0;
  double series_interval_s = 0.1;
  bool preloaded = false;  // the store holds the workload's preload already
};

// Drives a store with a workload in windows of the run's age; between windows everything stands still.
//
// Its calls come from one thread, but for Fail. The first failure ends the run: later calls throw it again.
class Runner {
 public:
  // Throws RunError (invalid) for a workload that it cannot run.
  Runner(const RunParts& parts, const RunPlan& plan);
  // Closes the clock and waits for the load threads.
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Fills the store as the workload's preload says, on an unthrottled device, and returns the number of keys.
  // Throws RunError.
  // REQUIRES: the store is empty and the run's age is 0.
  uint64_t Load(const Progress& progress);

  // Loads until the window's end and returns the window from the age before. Counted operations end it a few
  // later, since they are looked at once a millisecond. Throws RunError when the store fails, or when
  // `end.until_s` is not above the age.
  Measurement Advance(const WindowEnd& end, const Progress& progress);

  // Ends the run with the first of the failures that it is told of. Any thread may call it.
  void Fail(const rocksdb::Status& status);

 private:
  struct Sample {
    uint64_t operations = 0;
    uint64_t device_bytes_read = 0;
    uint64_t device_bytes_written = 0;
    RunClock::Nanos stalled_ns = 0;
  };

  void StartThreads();
  void SampleStalls();
  void ThrowIfFailed();
  // Samples the window as it passes; returns when it has ended or the run has failed.
  Series PassWindow(RunClock::Nanos from, RunClock::Nanos until, uint64_t operations,
                    const Progress& progress);
  // Sleeps until a moment of the run, or until threads have completed so many operations in all. Returns
  // false when the run has failed.
  bool SleepUntil(RunClock::Nanos moment, uint64_t completed);
  uint64_t CompletedOperations() const;
  // Gives operations that need nothing but the CPU the time to end.
  void WaitForThreads() const;
  StoreState StateWhileStopped();
  Sample TakeSample();
  RunTotals TakeTotals(const StoreState& state);
  Measurement Measure(double until_s, Series series);
  void CountLiveKeys(Measurement* measurement) const;

  const RunParts parts_;
  const RunPlan plan_;
  WorkloadState workload_;
  ValueSource values_;
  LiveKeys live_keys_;
  LoadGate gate_;
  LoadTargets targets_;
  std::vector<std::unique_ptr<LoadThread>> threads_;
  StallTracker stalls_;
  std::thread stall_sampler_;

  double age_s_ = 0;
  RunTotals totals_;  // at age_s_
  Sample last_sample_;
  uint64_t preloaded_keys_ = 0;

  std::mutex failure_mutex_;
  std::optional<rocksdb::Status> failure_;
};

}  // namespace rocktune
