#include "rocktune/runner/runner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <future>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include "rocktune/runner/preload.h"
#include "rocktune/runner/process_usage.h"
#include "rocktune/runner/run_error.h"
#include "rocktune/util/thread_role.h"
#include "rocktune/workload/random.h"
#include "rocktune/workload/size_source.h"
#include "rocktune/workload/trace_preload.h"
#include "rocktune/workload/trace_replay.h"

namespace rocktune {
namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

RunClock::Nanos NanosOf(double seconds) { return std::llround(seconds * 1e9); }

double SecondsOf(RunClock::Nanos nanos) { return static_cast<double>(nanos) / 1e9; }

uint64_t BytesOf(const DeviceCounters& counters, IoCause cause) {
  return counters.bytes[static_cast<std::size_t>(cause)];
}

RunPlan Checked(RunPlan plan) {
  if (!plan.workload.trace.path.empty()) {
    ResolveTrace(&plan.workload);
  }
  for (const FamilySpec& family : plan.workload.families) {
    // Half of what LiveKeys can hold, which leaves room for inserts.
    if (std::max(family.keys, family.preload.keys) >= uint64_t{1} << 39) {
      throw RunError(RunFailure::kInvalid, "workload: keys must be below 2^39");
    }
  }
  if (!(plan.series_interval_s >= 1e-3)) {
    throw RunError(RunFailure::kInvalid, "series_interval_s must be at least 0.001");
  }
  return plan;
}

// Returns the mean size of values, estimated from samples: preloaded entries are not measured one by one.
double MeanValueBytes(const SizeSpec& spec) {
  constexpr int kDraws = 4096;
  const SizeSource sizes(spec);
  Random random(0);
  uint64_t sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    sum += sizes.Next(&random);
  }
  return static_cast<double>(sum) / kDraws;
}

}  // namespace

Runner::Runner(const RunParts& parts, const RunPlan& plan)
    : parts_(parts),
      plan_(Checked(plan)),
      workload_(plan_.workload),
      values_(NewValueSources(plan_.workload, plan_.seed)),
      present_(PresentKeys(plan_.workload)),
      live_keys_(plan_.workload.families.size()),
      gate_(parts.clock),
      stalls_(parts.clock) {
  if (plan_.preloaded) {
    AddPreloadedKeys();
  }
}

void Runner::AddPreloadedKeys() {
  preloaded_ = true;
  for (std::size_t family = 0; family < live_keys_.size(); ++family) {
    if (present_[family].empty()) {
      live_keys_[family].AddFirst(plan_.workload.families[family].preload.keys);
    } else {
      live_keys_[family].AddAll(present_[family]);
    }
  }
}

Runner::~Runner() {
  parts_.clock->Close();
  gate_.Close();
  threads_.clear();
  if (stall_sampler_.joinable()) {
    stall_sampler_.join();
  }
}

void Runner::Fail(const rocksdb::Status& status) {
  {
    std::lock_guard<std::mutex> lock(failure_mutex_);
    if (!failure_) {
      failure_ = status;
    }
  }
  parts_.clock->Close();
  gate_.Close();
}

void Runner::ThrowIfFailed() {
  std::lock_guard<std::mutex> lock(failure_mutex_);
  if (failure_) {
    throw StoreError("the store failed", *failure_);
  }
}

uint64_t Runner::Load(const Progress& progress) {
  // RocksDB's own waits follow the run's clock, so it must run. The run's age 0 is its value afterwards.
  parts_.device->SetThrottled(false);
  parts_.clock->Start();
  Preload(plan_.workload, plan_.seed, values_, present_, StoredSizes(plan_.workload), parts_.store, progress);
  parts_.clock->Stop();
  parts_.device->SetThrottled(true);
  ThrowIfFailed();
  parts_.store->ResetStatistics();
  AddPreloadedKeys();
  return plan_.workload.preload_keys();
}

void Runner::StartThreads() {
  targets_ = {parts_.store,
              parts_.clock,
              &gate_,
              &workload_,
              &values_,
              &live_keys_,
              plan_.seed,
              parts_.clock->Now(),
              [this](const rocksdb::Status& status) { Fail(status); }};
  totals_ = ReadTotals(StateWhileStopped());
  last_sample_ = TakeSample();
  memtable_bytes_ = parts_.store->MemtableBytes();
  stall_sampler_ = std::thread([this] { SampleStalls(); });
  for (uint64_t thread = 0; thread < plan_.workload.threads; ++thread) {
    threads_.push_back(std::make_unique<LoadThread>(&targets_, thread));
  }
}

void Runner::SampleStalls() {
  // Costs a busy machine no noticeable time. Stalls of any length are right on average.
  constexpr RunClock::Nanos kInterval = 5'000'000;
  constexpr int kMemtablesEvery = 10;
  for (int64_t sample = 0; parts_.clock->SleepUntil(parts_.clock->Now() + kInterval); ++sample) {
    stalls_.Observe(parts_.store->CurrentWriteCondition());
    // Here, because the thread that ends the window must not wait for a lock of the store.
    if (sample % kMemtablesEvery == 0) {
      memtable_bytes_ = parts_.store->MemtableBytes();
    }
  }
}

Measurement Runner::Advance(const WindowEnd& end, const Progress& progress) {
  ThrowIfFailed();
  if (!(end.until_s > age_s_)) {
    throw RunError(RunFailure::kInvalid,
                   "until_s must be above the run's age, " + std::to_string(age_s_) + " s");
  }
  if (threads_.empty()) {
    StartThreads();
  }
  const RunClock::Nanos until = targets_.start + NanosOf(end.until_s);
  gate_.OpenUntil(until);
  parts_.clock->Start();
  Series series = SampleWindow(targets_.start + NanosOf(age_s_), until, end.operations, progress);
  ThrowIfFailed();
  const RunClock::Nanos ended = parts_.clock->Now();
  return Measure(ended < until ? SecondsOf(ended - targets_.start) : end.until_s, std::move(series));
}

uint64_t Runner::CompletedOperations() const {
  uint64_t operations = 0;
  for (const auto& thread : threads_) {
    operations += thread->completed();
  }
  return operations;
}

bool Runner::SleepUntil(RunClock::Nanos until, uint64_t completed) {
  // Short compared to any window worth measuring, and long compared to reading every thread's counter.
  constexpr RunClock::Nanos kPollInterval = 1'000'000;
  if (completed == kNoLimit) {
    return parts_.clock->SleepUntil(until);
  }
  bool running = true;
  while (running && parts_.clock->Now() < until && CompletedOperations() < completed) {
    running = parts_.clock->SleepUntil(std::min(until, parts_.clock->Now() + kPollInterval));
  }
  return running;
}

Series Runner::SampleWindow(RunClock::Nanos from, RunClock::Nanos until, uint64_t operations,
                            const Progress& progress) {
  Series series;
  series.interval_s = plan_.series_interval_s;
  const uint64_t completed = operations == 0 ? kNoLimit : last_sample_.operations + operations;
  auto last_progress = std::chrono::steady_clock::now();
  RunClock::Nanos end = from;
  for (int64_t interval = 1; end < until; ++interval) {
    end = std::min(until, from + NanosOf(static_cast<double>(interval) * plan_.series_interval_s));
    const bool running = SleepUntil(end, completed);
    if (completed != kNoLimit && CompletedOperations() >= completed) {
      end = until;
    }
    if (end == until) {
      // The gate first: a thread that waits for the clock must not start an operation when the clock next
      // runs.
      gate_.Shut();
      parts_.clock->Stop();
      WaitForThreads();
    }
    if (!running) {
      break;
    }
    const Sample sample = TakeSample();
    const Sample earlier = std::exchange(last_sample_, sample);
    series.operations.push_back(sample.operations - earlier.operations);
    series.device_bytes_read.push_back(sample.device_bytes_read - earlier.device_bytes_read);
    series.device_bytes_written.push_back(sample.device_bytes_written - earlier.device_bytes_written);
    series.stalled_s.push_back(SecondsOf(sample.stalled_ns - earlier.stalled_ns));
    series.stored_bytes.push_back(parts_.store->DataBytes());
    series.live_bytes.push_back(LogicalBytes());
    series.memtables_bytes.push_back(memtable_bytes_);
    if (const auto now = std::chrono::steady_clock::now(); now - last_progress >= kProgressInterval) {
      last_progress = now;
      progress("advance", SecondsOf(end - from), SecondsOf(until - from));
    }
  }
  return series;
}

void Runner::WaitForThreads() const {
  // An operation that waits for the device, or for another thread that does, cannot end while the clock is
  // stopped, so the wait is limited to 5 ms.
  constexpr int kMaxPolls = 25;
  const auto waiting = [](const auto& thread) { return thread->waiting(); };
  for (int i = 0; i < kMaxPolls && !std::all_of(threads_.begin(), threads_.end(), waiting); ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

StoreState Runner::StateWhileStopped() {
  double used_s = 0;
  std::future<StoreState> state = std::async(std::launch::async, [&] {
    StoreState read = parts_.store->State();
    used_s = CallingThreadCpuSeconds();
    return read;
  });
  if (state.wait_for(std::chrono::milliseconds(200)) != std::future_status::ready) {
    // Some thread holds a lock of the store while it waits for the device; RocksDB does so when it reads
    // tables to divide a compaction. The clock must run until the lock is released. The gate is shut, so no
    // operation begins meanwhile.
    parts_.clock->Start();
    state.wait();
    parts_.clock->Stop();
  }
  StoreState read = state.get();
  looking_cpu_s_ += used_s;
  return read;
}

Runner::Sample Runner::TakeSample() {
  Sample sample;
  sample.operations = CompletedOperations();
  const DeviceCounters device = parts_.device->Counters();
  sample.device_bytes_read = BytesOf(device, IoCause::kCompactionRead) + BytesOf(device, IoCause::kUserRead);
  sample.device_bytes_written = BytesOf(device, IoCause::kWal) + BytesOf(device, IoCause::kFlush) +
                                BytesOf(device, IoCause::kCompactionWrite);
  sample.stalled_ns = stalls_.Totals().stalled_ns;
  return sample;
}

RunTotals Runner::ReadTotals(const StoreState& state) {
  RunTotals totals;
  totals.families.resize(plan_.workload.families.size());
  for (const auto& thread : threads_) {
    thread->AddTo(&totals);
  }
  totals.stalls = stalls_.Totals();
  totals.device = parts_.device->Counters();
  // A look at the state takes time in proportion to the files, which is no work of the store.
  totals.measuring_cpu_s = CallingThreadCpuSeconds() + looking_cpu_s_;
  totals.cpu_s = ProcessCpuSeconds() - totals.measuring_cpu_s;
  totals.tickers = state.tickers;
  totals.level0_compactions_ns = state.level0_compactions_ns;
  return totals;
}

Measurement Runner::Measure(double until_s, Series series) {
  Measurement measurement;
  measurement.from_s = std::exchange(age_s_, until_s);
  measurement.until_s = until_s;
  measurement.series = std::move(series);
  measurement.state = StateWhileStopped();
  const RunTotals earlier = std::exchange(totals_, ReadTotals(measurement.state));
  measurement.totals = totals_;
  measurement.totals -= earlier;
  measurement.max_write_stop_s = SecondsOf(stalls_.TakeMaxStop());
  const std::vector<FamilySpec>& families = plan_.workload.families;
  for (std::size_t family = 0; family < families.size(); ++family) {
    const LiveData live = CountLiveData(family);
    measurement.live_of.push_back(live);
    measurement.live.keys += live.keys;
    measurement.live.logical_bytes += live.logical_bytes;
    if (families.size() > 1 || families[family].name != FamilySpec().name) {
      measurement.families.push_back(families[family].name);
    }
  }
  measurement.resident_bytes = ResidentBytes();
  return measurement;
}

uint64_t Runner::LogicalBytes() const {
  uint64_t bytes = 0;
  for (std::size_t family = 0; family < plan_.workload.families.size(); ++family) {
    bytes += CountLiveData(family).logical_bytes;
  }
  return bytes;
}

LiveData Runner::CountLiveData(std::size_t family) const {
  const FamilySpec& spec = plan_.workload.families[family];
  uint64_t entries = preloaded_ ? spec.preload.keys : 0;
  int64_t live_keys = static_cast<int64_t>(entries);
  double value_bytes = static_cast<double>(entries) * MeanValueBytes(spec.value);
  for (const auto& thread : threads_) {
    live_keys += thread->live_keys_added(family);
    entries += thread->entries_written(family);
    value_bytes += static_cast<double>(thread->value_bytes_written(family));
  }
  if (live_keys <= 0) {
    return {};
  }
  const double mean_entry_bytes =
      static_cast<double>(spec.key_bytes) + value_bytes / static_cast<double>(entries);
  return {static_cast<uint64_t>(live_keys),
          static_cast<uint64_t>(std::llround(static_cast<double>(live_keys) * mean_entry_bytes))};
}

}  // namespace rocktune
