#include "worker/run.h"

#include <rocksdb/file_system.h>
#include <rocksdb/trace_reader_writer.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/flsm/flsm_options_map.h"
#include "rocktune/governor/governor_options_map.h"
#include "rocktune/runner/process_usage.h"
#include "rocktune/runner/run_env.h"
#include "rocktune/runner/run_error.h"
#include "rocktune/trace/trace_sample.h"

namespace rocktune {

Run::Run(const RunRequest& request, std::function<void(const RunError&)> on_overrun)
    : file_system_(std::make_shared<ThrottledFileSystemImpl>(rocksdb::FileSystem::Default(), request.device,
                                                             &clock_)) {
  if (request.workload.trace.scale > 1) {
    SampleTrace(request.workload.trace.path, request.workload.trace.scale);
  }
  // RocksDB writes CURRENT when it creates a database.
  const bool preloaded = std::filesystem::exists(std::filesystem::path(request.directory) / "CURRENT");
  OpenStore(request);
  runner_ =
      std::make_unique<Runner>(RunParts{store_.get(), &clock_, file_system_.get()},
                               RunPlan{request.workload, request.seed, request.series_interval_s, preloaded});
  {
    std::lock_guard<std::mutex> lock(failure_mutex_);
    failing_runner_ = runner_.get();
    if (!early_failure_.ok()) {
      failing_runner_->Fail(early_failure_);
    }
  }
  watch_ = std::make_unique<ResourceWatch>(
      ResourceWatch::Limits{request.memory_limit_bytes, request.disk_limit_bytes, ResidentBytes,
                            [this] { return file_system_->StoredBytes(); }},
      std::move(on_overrun));
}

Run::~Run() { EndLoad(); }

void Run::OpenStore(const RunRequest& request) {
  RocksDbStoreSetup setup;
  setup.directory = request.directory;
  setup.options = OptionsFromMaps({request.options.db, request.options.cf, request.options.table});
  SetFamilies(request, &setup);
  if (setup.options.allow_mmap_reads) {
    throw RunError(
        RunFailure::kInvalid,
        "option 'allow_mmap_reads' (db): memory-mapped reads bypass the device's limits; set it to false");
  }
  if (!request.options.governor.empty()) {
    CreateGovernor(request, &setup.options);
  }
  if (!request.options.flsm.empty()) {
    setup.open_database = [this, layout = FlsmOptionsFromMap(request.options.flsm)](
                              const rocksdb::Options& options, const std::string& directory,
                              std::unique_ptr<rocksdb::DB>* database) {
      std::unique_ptr<FlsmStore> store;
      rocksdb::Status status = FlsmStore::Open(options, layout, directory, &store);
      flsm_store_ = store.get();
      *database = std::move(store);
      return status;
    };
    setup.on_scan = [this](uint64_t scan_ns) { flsm_store_->AddBusy(scan_ns); };
  }
  setup.wal = request.workload.wal;
  setup.sync = request.workload.sync;
  setup.file_system = file_system_;
  setup.clock = &clock_;
  setup.on_background_error = [this](const rocksdb::Status& status) { OnBackgroundError(status); };
  // Opening takes no run time. The clock is stopped, so throttled I/O would wait for ever.
  file_system_->SetThrottled(false);
  const rocksdb::Status status = RocksDbStore::Open(setup, &store_);
  if (!status.ok()) {
    const bool refused = status.IsInvalidArgument() || status.IsNotSupported();
    throw refused ? RunError(RunFailure::kInvalid, "RocksDB refuses to open the store: " + status.ToString())
                  : StoreError("opening the store failed", status);
  }
  options_ = store_->ReadBackOptions();
  if (!request.options.flsm.empty()) {
    options_.flsm = MapFromFlsmOptions(FlsmOptionsFromMap(request.options.flsm));
  }
  if (governor_ != nullptr) {
    options_.governor = MapFromGovernorOptions(governor_->options());
    Attach();
  }
  file_system_->SetThrottled(true);
}

void Run::SetFamilies(const RunRequest& request, RocksDbStoreSetup* setup) {
  std::vector<std::string> names;
  for (const FamilySpec& family : request.workload.families) {
    names.push_back(family.name);
  }
  if (names == std::vector<std::string>{rocksdb::kDefaultColumnFamilyName} &&
      request.options.families.empty()) {
    return;
  }
  if (!request.options.flsm.empty()) {
    throw RunError(RunFailure::kInvalid,
                   "an FLSM store has the default column family alone; leave the "
                   "workload's other families out, or the flsm options");
  }
  const auto add = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const auto& [name, options] : request.options.families) {
    add(name);
  }
  add(rocksdb::kDefaultColumnFamilyName);
  setup->families = FamiliesFromMaps(request.options, names);
}

void Run::CreateGovernor(const RunRequest& request, rocksdb::Options* options) {
  if (options->rate_limiter != nullptr) {
    throw RunError(RunFailure::kInvalid,
                   "option 'rate_limiter_bytes_per_sec' (db): the governor has its own rate limiter; remove "
                   "the option or "
                   "the governor");
  }
  GovernorOptions governor = GovernorOptionsFromMap(request.options.governor);
  if (governor.device_bytes_per_s == 0) {
    governor.device_bytes_per_s = request.device.bandwidth_bytes_s;
  }
  if (governor.device_bytes_per_s == 0) {
    throw RunError(
        RunFailure::kInvalid,
        "option 'device_bytes_per_s' (governor): set it, because the device has no bandwidth limit");
  }
  governor.clock = NewRunSystemClock(&clock_);
  // Unknown, so that every read counts: the emulated device has no page cache in front of it.
  governor.device_read_bytes = [] { return uint64_t{0}; };
  if (const rocksdb::Status status = CompactionGovernor::Create(governor, &governor_); !status.ok()) {
    throw RunError(RunFailure::kInvalid, "governor: " + status.ToString());
  }
  governor_->Prepare(options);
}

void Run::Attach() {
  const rocksdb::Status status = governor_->Attach(store_->db(), store_->families());
  if (status.IsInvalidArgument() || status.IsNotSupported()) {
    throw RunError(RunFailure::kInvalid, "the governor refuses the store's options: " + status.ToString());
  }
  if (!status.ok()) {
    throw StoreError("attaching the governor failed", status);
  }
}

std::optional<GovernorCounters> Run::Governed() const {
  return governor_ == nullptr ? std::nullopt : std::optional(governor_->Counters());
}

void Run::SetPolicy(int level, int policy, FlsmTransition transition) {
  if (flsm_store_ == nullptr) {
    throw RunError(RunFailure::kInvalid,
                   "set_policy: the store is not an FLSM store; open it with flsm options");
  }
  const rocksdb::Status status = flsm_store_->SetPolicy(level, policy, transition);
  if (status.IsInvalidArgument()) {
    throw RunError(RunFailure::kInvalid, "set_policy: " + status.ToString());
  }
  if (!status.ok()) {
    throw StoreError("setting a policy failed", status);
  }
}

void Run::StartTrace(const std::string& path) {
  std::unique_ptr<rocksdb::TraceWriter> writer;
  rocksdb::Status status =
      rocksdb::NewFileTraceWriter(rocksdb::Env::Default(), rocksdb::EnvOptions(), path, &writer);
  if (status.ok()) {
    rocksdb::TraceOptions options;
    options.max_trace_file_size = std::numeric_limits<uint64_t>::max();
    status = store_->db()->StartTrace(options, std::move(writer));
  }
  if (!status.ok()) {
    throw StoreError("recording a trace failed", status);
  }
}

void Run::EndTrace() {
  if (const rocksdb::Status status = store_->db()->EndTrace(); !status.ok()) {
    throw StoreError("recording a trace failed", status);
  }
}

std::optional<FlsmShape> Run::Shape() const {
  return flsm_store_ == nullptr ? std::nullopt : std::optional(flsm_store_->Shape());
}

std::optional<FlsmStatistics> Run::ShapedStatistics() const {
  return flsm_store_ == nullptr ? std::nullopt : std::optional(flsm_store_->Statistics());
}

void Run::OnBackgroundError(const rocksdb::Status& status) {
  std::lock_guard<std::mutex> lock(failure_mutex_);
  if (failing_runner_ != nullptr) {
    failing_runner_->Fail(status);
  } else {
    early_failure_ = status;
  }
}

void Run::EndLoad() {
  watch_.reset();
  if (governor_ != nullptr) {
    // An operation may wait for a compaction, which would wait for the limit while the clock is stopped.
    governor_->StopLimiting();
  }
  {
    std::lock_guard<std::mutex> lock(failure_mutex_);
    failing_runner_ = nullptr;  // RocksDB may report errors after the runner's end
  }
  runner_.reset();
}

void Run::Close() {
  EndLoad();
  governor_.reset();
  const rocksdb::Status status = store_->Close();
  if (!status.ok()) {
    throw StoreError("closing the store failed", status);
  }
}

}  // namespace rocktune
