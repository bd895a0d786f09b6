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

// The objects that the load threads of a run share. All are thread-safe and must outlive the threads.
struct LoadTargets {
  Store* store = nullptr;
  RunClock* clock = nullptr;
  LoadGate* gate = nullptr;
  WorkloadState* workload = nullptr;
  const ValueSource* values = nullptr;
  LiveKeys* live_keys = nullptr;
  uint64_t seed = 0;
  RunClock::Nanos start = 0;  // the clock's value at the run's age 0
  // Called by a thread with the status of its first failed operation; the thread then ends. Must be
  // thread-safe.
  std::function<void(const rocksdb::Status&)> on_failure;
};

// A counter that one thread at a time adds to and any thread reads.
class Counter {
 public:
  void Add(uint64_t amount) { value_.store(Get() + amount, std::memory_order_relaxed); }
  uint64_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// A thread that performs its sequence of operations while the gate is open, and counts them. Public functions
// may be called on any thread at any time.
class LoadThread {
 public:
  // Starts the thread with the given index, below the workload's `threads`. `targets` must outlive it.
  LoadThread(const LoadTargets* targets, uint64_t index);
  // Waits until the thread has ended.
  // REQUIRES: the gate and the clock are closed, or an operation has failed.
  ~LoadThread();
  LoadThread(const LoadThread&) = delete;
  LoadThread& operator=(const LoadThread&) = delete;

  // Returns the number of completed operations.
  uint64_t completed() const { return completed_.Get(); }
  // Returns the number of successful puts, those of inserts and read-modify-writes included.
  uint64_t entries_written() const { return entries_written_.Get(); }
  // Returns the bytes of the values of these puts.
  uint64_t value_bytes_written() const { return value_bytes_written_.Get(); }
  // Returns the keys that the thread has added to the store, minus those it has removed.
  int64_t live_keys_added() const { return live_keys_added_.load(std::memory_order_relaxed); }
  // Returns true while the thread waits for the start of its next operation, and false during one.
  bool waiting() const { return waiting_.load(std::memory_order_acquire); }
  // Adds the thread's operations and user bytes to `*totals`.
  void AddTo(RunTotals* totals) const;

 private:
  struct KindCounters {
    Counter found;
    Histogram latency_ns;
  };

  void Run();
  // Waits until the intended start and until the gate is open, and returns true; false once the clock is
  // closed.
  bool WaitForStart(RunClock::Nanos intended);
  rocksdb::Status Perform(const Operation& operation);
  rocksdb::Status Get(KindCounters* counters);
  rocksdb::Status Put(const Operation& operation);
  rocksdb::Status Delete(const Operation& operation);
  rocksdb::Status Scan(const Operation& operation, KindCounters* counters);
  void AddLiveKeys(int64_t keys);
  KindCounters& CountersOf(OperationKind kind) { return kinds_[static_cast<std::size_t>(kind)]; }

  const LoadTargets& targets_;
  const uint64_t key_bytes_;
  OperationStream operations_;
  std::string key_;
  rocksdb::PinnableSlice value_;
  uint64_t value_position_;  // of the next value in the ValueSource

  std::array<KindCounters, kOperationKindCount> kinds_;
  Counter completed_;
  Counter user_bytes_read_;
  Counter user_bytes_written_;
  Counter entries_written_;
  Counter value_bytes_written_;
  std::atomic<int64_t> live_keys_added_{0};
  std::atomic<bool> waiting_{false};
  std::thread thread_;  // last, because the thread uses all members above
};

}  // namespace rocktune
