#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "rocktune/compaction_governor.h"
#include "rocktune/device/throttled_file_system.h"
#include "rocktune/device_spec.h"
#include "rocktune/flsm_store.h"
#include "rocktune/runner/measurement.h"
#include "rocktune/runner/rocksdb_options.h"
#include "rocktune/runner/rocksdb_store.h"
#include "rocktune/runner/runner.h"
#include "rocktune/util/progress.h"
#include "rocktune/util/run_clock.h"
#include "rocktune/workload/workload_spec.h"
#include "worker/resource_watch.h"

namespace rocktune {

// The fields of the protocol's command `open`.
struct RunRequest {
  std::string directory;
  OptionMaps options;
  WorkloadSpec workload;
  DeviceSpec device;
  uint64_t seed = 0;
  double series_interval_s = 0.1;
  uint64_t memory_limit_bytes = 0;  // of the process; 0 means no limit
  uint64_t disk_limit_bytes = 0;    // of the store's files; 0 means no limit
};

// A store with everything that a run needs: the device, the governor if there is one, the runner and the
// watch of its limits. The store is a RocksDB database, or an FLSM store if the options have a layout.
//
// Threads: all functions must be called on one thread. Failure: they throw RunError.
class Run {
 public:
  // Opens or creates the store in the request's directory. An existing store is assumed to hold the
  // workload's preload. `on_overrun` is called at most once, on another thread, if the run exceeds a limit.
  Run(const RunRequest& request, std::function<void(const RunError&)> on_overrun);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Returns the options that the open store and its governor use.
  const OptionMaps& options() const { return options_; }
  // Loads the preload, as Runner::Load does.
  uint64_t Load(const Progress& progress) { return runner_->Load(progress); }
  // Runs the load until a window's end and returns its measurement, as Runner::Advance does.
  Measurement Advance(const WindowEnd& end, const Progress& progress) {
    return runner_->Advance(end, progress);
  }
  // Sets the policy of a level, as FlsmStore::SetPolicy does. Throws RunError (invalid) if the store is not
  // an FLSM store or refuses the change.
  void SetPolicy(int level, int policy, FlsmTransition transition);
  // Returns the shape of an FLSM store; nullopt for any other store.
  std::optional<FlsmShape> Shape() const;
  // Returns the statistics of an FLSM store; nullopt for any other store.
  std::optional<FlsmStatistics> ShapedStatistics() const;
  // Returns the counters of the store's governor; nullopt for a store without one.
  std::optional<GovernorCounters> Governed() const;
  // Records the store's operations with RocksDB's own tracer from now on. Throws RunError if the file cannot
  // be written.
  void StartTrace(const std::string& path);
  // Ends the recording and completes the file. Throws RunError if none was started.
  void EndTrace();
  // Ends the load and closes the store. Only the destructor may be called afterwards.
  void Close();

 private:
  void OpenStore(const RunRequest& request);
  // Sets the column families of the workload and of the options. Throws RunError (invalid) for families of an
  // FLSM store.
  static void SetFamilies(const RunRequest& request, RocksDbStoreSetup* setup);
  void CreateGovernor(const RunRequest& request, rocksdb::Options* options);
  void Attach();
  // Stops the watch, the governor's limits and the runner, in this order.
  void EndLoad();
  // Called on RocksDB's threads. Errors may come before the runner exists, as soon as the store is open.
  void OnBackgroundError(const rocksdb::Status& status);

  RunClock clock_;
  std::shared_ptr<ThrottledFileSystemImpl> file_system_;
  OptionMaps options_;
  std::mutex failure_mutex_;       // guards the next two members
  rocksdb::Status early_failure_;  // the latest background error before the runner exists
  Runner* failing_runner_ =
      nullptr;  // receives background errors; nullptr before the runner and after its end
  std::unique_ptr<RocksDbStore> store_;
  FlsmStore* flsm_store_ = nullptr;               // the database in store_, or nullptr if it is no FLSM store
  std::unique_ptr<CompactionGovernor> governor_;  // must be destroyed before the store
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<ResourceWatch> watch_;
};

}  // namespace rocktune
