#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "rocktune/runner/live_keys.h"
#include "rocktune/runner/load_gate.h"
#include "rocktune/runner/measurement.h"
#include "rocktune/runner/store.h"
#include "rocktune/util/histogram.h"
#include "rocktune/util/run_clock.h"
#include "rocktune/workload/operation_stream.h"

namespace rocktune {

// What the load threads of a run work on and with. All thread-safe, all outlive the threads.
struct LoadTargets {
  Store* store = nullptr;
  RunClock* clock = nullptr;
  LoadGate* gate = nullptr;
  WorkloadState* workload = nullptr;
  const ValueSource* values = nullptr;
  LiveKeys* live_keys = nullptr;
  uint64_t seed = 0;
  RunClock::Nanos start = 0;  // the clock's time at age 0
  // Called with the first operation that fails; the thread ends.
  std::function<void(const rocksdb::Status&)> on_failure;
};

// A number that one thread adds to and any thread reads.
class Counter {
 public:
  void Add(uint64_t amount) { value_.store(Get() + amount, std::memory_order_relaxed); }
  uint64_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// One thread that performs its sequence of operations whenever the gate lets it, and counts.
class LoadThread {
 public:
  // Starts at once. `targets` must outlive the thread.
  LoadThread(const LoadTargets* targets, uint64_t index);
  // Waits for the thread. REQUIRES: the gate and the clock are closed, or the thread has failed.
  ~LoadThread();
  LoadThread(const LoadThread&) = delete;
  LoadThread& operator=(const LoadThread&) = delete;

  // Any thread may ask at any time.
  uint64_t completed() const { return completed_.Get(); }
  uint64_t entries_written() const { return entries_written_.Get(); }
  uint64_t value_bytes_written() const { return value_bytes_written_.Get(); }
  int64_t live_keys_added() const { return live_keys_added_.load(std::memory_order_relaxed); }
  // Whether it waits for its next operation's time, rather than being inside one.
  bool waiting() const { return waiting_.load(std::memory_order_acquire); }
  void AddTo(RunTotals* totals) const;

 private:
  struct KindCounters {
    Counter found;
    Histogram latency_ns;
  };

  void Run();
  // Waits for an operation's intended start and returns true when it may begin.
  bool WaitForStart(RunClock::Nanos intended);
  rocksdb::Status Perform(const Operation& operation);
  rocksdb::Status Get(KindCounters* counters);
  rocksdb::Status Put(const Operation& operation);
  rocksdb::Status Delete(const Operation& operation);
  rocksdb::Status Scan(const Operation& operation, KindCounters* counters);
  void AddLiveKeys(int64_t keys);
  KindCounters& Of(OperationKind kind) { return kinds_[static_cast<std::size_t>(kind)]; }

  const LoadTargets& targets_;
  const uint64_t key_bytes_;
  OperationStream operations_;
  std::string key_;
  rocksdb::PinnableSlice value_;
  uint64_t value_position_;

  std::array<KindCounters, kOperationKindCount> kinds_;
  Counter completed_;
  Counter user_bytes_read_;
  Counter user_bytes_written_;
  Counter entries_written_;
  Counter value_bytes_written_;
  std::atomic<int64_t> live_keys_added_{0};
  std::atomic<bool> waiting_{false};
  std::thread thread_;  // last: it uses all the others
};

}  // namespace rocktune
