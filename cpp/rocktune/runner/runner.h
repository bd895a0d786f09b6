#pragma once

#include <rocksdb/status.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "rocktune/runner/live_keys.h"
#include "rocktune/runner/load_gate.h"
#include "rocktune/runner/load_thread.h"
#include "rocktune/runner/measurement.h"
#include "rocktune/runner/stall_tracker.h"
#include "rocktune/runner/store.h"
#include "rocktune/throttled_file_system.h"
#include "rocktune/util/progress.h"
#include "rocktune/util/run_clock.h"
#include "rocktune/workload/operation_stream.h"
#include "rocktune/workload/trace_file.h"
#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// The objects that a runner drives. All must outlive it.
struct RunParts {
  Store* store = nullptr;
  RunClock* clock = nullptr;  // only the runner may start and stop it
  ThrottledFileSystem* device = nullptr;
};

// The end of a window: the run's age `until_s`, or earlier the completion of `operations` operations in it.
struct WindowEnd {
  double until_s = 0;
  uint64_t operations = 0;  // 0 means that only `until_s` ends the window
};

// What a runner does with a store.
struct RunPlan {
  WorkloadSpec workload;
  uint64_t seed = 0;
  double series_interval_s = 0.1;  // interval of Measurement::series, at least 0.001
  bool preloaded = false;          // true if the store holds the workload's preload already
};

// Runs a workload on a store, window by window, and measures each window. Between windows the run's clock,
// the load and the device are stopped.
//
// Threads: the load has the workload's number of threads, and stalls are sampled on one more. All functions
// must be called on one thread, except Fail.
// Failure: the first failure ends the run; later calls throw RunError with it again.
class Runner {
 public:
  // Throws RunError (invalid) for 2^39 or more keys, and for a series interval below 0.001 s; and
  // std::invalid_argument as ResolveTrace does.
  Runner(const RunParts& parts, const RunPlan& plan);
  // Closes the clock and waits until the load threads have ended their operations.
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Loads the workload's preload into the store, on an unthrottled device, and returns the number of keys.
  // The store's statistics are reset afterwards. Throws RunError if the store fails.
  // REQUIRES: the store is empty and the run's age is 0.
  uint64_t Load(const Progress& progress);

  // Runs the load from the run's age until the window's end, and returns the window's measurement. A window
  // that ends by its operations has a few more than `end.operations`, because they are counted once a
  // millisecond. Throws RunError if the store fails, and RunError (invalid) if `end.until_s` is not above the
  // run's age.
  Measurement Advance(const WindowEnd& end, const Progress& progress);

  // Ends the run with a failure, unless it has failed already. The call of Advance in progress then throws
  // it. May be called on any thread.
  void Fail(const rocksdb::Status& status);

 private:
  // Cumulative counters from which the series is computed.
  struct Sample {
    uint64_t operations = 0;
    uint64_t device_bytes_read = 0;
    uint64_t device_bytes_written = 0;
    RunClock::Nanos stalled_ns = 0;
  };

  // Starts the load threads, which wait at the gate, and the sampling of stalls; sets the run's age 0.
  void StartThreads();
  // The loop of the thread that samples the store's write condition and memtables.
  void SampleStalls();
  // Throws RunError with the run's first failure, if there is one.
  void ThrowIfFailed();
  // Waits until the window has ended or the run has failed, and samples the series. Stops the clock at the
  // end.
  Series SampleWindow(RunClock::Nanos from, RunClock::Nanos until, uint64_t operations,
                      const Progress& progress);
  // Sleeps until the time `until` or until all threads together have completed `completed` operations.
  // Returns false if the run has failed.
  bool SleepUntil(RunClock::Nanos until, uint64_t completed);
  // Returns the operations that all threads have completed since age 0.
  uint64_t CompletedOperations() const;
  // Waits some milliseconds for the end of operations that do not wait for the stopped device.
  void WaitForThreads() const;
  // Returns the store's state. Starts the clock for a while if the state is not available otherwise.
  StoreState StateWhileStopped();
  // Returns the present counters of the series.
  Sample TakeSample();
  // Returns the present counters of the run; those of RocksDB are `state`'s.
  RunTotals ReadTotals(const StoreState& state);
  // Returns the measurement of the window that has just ended, and sets the run's age to `until_s`.
  Measurement Measure(double until_s, Series series);
  // Records that the store holds the workload's preload.
  void AddPreloadedKeys();
  // Returns the live data of a column family.
  LiveData CountLiveData(std::size_t family) const;
  // Returns the bytes of the live data of all column families.
  uint64_t LogicalBytes() const;

  const RunParts parts_;
  const RunPlan plan_;
  WorkloadState workload_;
  ValueSources values_;                 // by column family
  const std::vector<KeyBits> present_;  // by column family; see Preload
  std::deque<LiveKeys> live_keys_;      // by column family
  LoadGate gate_;                       // open during windows
  LoadTargets targets_;
  std::vector<std::unique_ptr<LoadThread>> threads_;
  StallTracker stalls_;
  std::atomic<uint64_t> memtable_bytes_{0};  // the latest sample
  std::thread stall_sampler_;

  double age_s_ = 0;  // of the run, at the end of the last window
  RunTotals totals_;  // at age_s_
  Sample last_sample_;
  double looking_cpu_s_ = 0;  // CPU time of threads that have read the store's state
  bool preloaded_ = false;    // whether the store holds the workload's preload

  std::mutex failure_mutex_;
  std::optional<rocksdb::Status> failure_;  // the first failure; guarded by failure_mutex_
};

}  // namespace rocktune
