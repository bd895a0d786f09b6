#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "rocktune/compaction_governor.h"
#include "rocktune/device_spec.h"
#include "rocktune/flsm_store.h"
#include "rocktune/runner/measurement.h"
#include "rocktune/runner/progress.h"
#include "rocktune/runner/rocksdb_options.h"
#include "rocktune/runner/rocksdb_store.h"
#include "rocktune/runner/runner.h"
#include "rocktune/throttled_file_system.h"
#include "rocktune/util/run_clock.h"
#include "rocktune/workload/workload_spec.h"
#include "worker/resource_watch.h"

namespace rocktune {

// The fields of the `open` command.
struct RunRequest {
  std::string directory;
  OptionMaps options;
  WorkloadSpec workload;
  DeviceSpec device;
  uint64_t seed = 0;
  double series_interval_s = 0.1;
  uint64_t memory_limit_bytes = 0;
  uint64_t disk_limit_bytes = 0;
};

// A RocksDB store on its device under its workload, with its limits watched.
//
// Its calls come from one thread. They throw RunError.
class Run {
 public:
  // A store that is in the directory already is taken to hold the workload's preload. `on_overrun` is called
  // on a thread of the run's own when it oversteps a limit.
  Run(const RunRequest& request, std::function<void(const RunError&)> on_overrun);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // What the store and its governor really use.
  const OptionMaps& options() const { return options_; }
  uint64_t Load(const Progress& progress) { return runner_->Load(progress); }
  Measurement Advance(const WindowEnd& end, const Progress& progress) {
    return runner_->Advance(end, progress);
  }
  // Throws for a store that is no FLSM store, and for what that refuses.
  void SetPolicy(int level, int policy, FlsmTransition transition);
  // What an FLSM store's tree looks like; nothing for any other store.
  std::optional<FlsmShape> Shape() const;
  std::optional<FlsmStatistics> ShapedStatistics() const;
  // What the store's governor has done so far; nothing for a store without one.
  std::optional<GovernorCounters> Governed() const;
  // Ends the load and closes the store properly; the run may then only be destroyed.
  void Close();

 private:
  void OpenStore(const RunRequest& request);
  void CreateGovernor(const RunRequest& request, rocksdb::Options* options);
  void Attach();
  void EndLoad();
  // Background errors may come as soon as the store is open, hence before the runner is there.
  void OnBackgroundError(const rocksdb::Status& status);

  RunClock clock_;
  std::shared_ptr<ThrottledFileSystem> file_system_;
  OptionMaps options_;
  std::mutex failure_mutex_;
  rocksdb::Status early_failure_;
  Runner* failing_ = nullptr;  // whom to tell of failures, once it is there
  std::unique_ptr<RocksDbStore> store_;
  FlsmStore* shaped_ = nullptr;                   // the store's database, if it is one
  std::unique_ptr<CompactionGovernor> governor_;  // gone before the store
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<ResourceWatch> watch_;
};

}  // namespace rocktune
