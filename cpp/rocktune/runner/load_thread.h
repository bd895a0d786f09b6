#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/runner/live_keys.h"
#include "rocktune/runner/load_gate.h"
#include "rocktune/runner/measurement.h"
#include "rocktune/runner/process_usage.h"
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
  const ValueSources* values = nullptr;       // by column family
  std::deque<LiveKeys>* live_keys = nullptr;  // by column family
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
  // Returns the number of successful puts to a family, those of inserts and read-modify-writes included.
  uint64_t entries_written(std::size_t family) const { return families_[family].entries_written.Get(); }
  // Returns the bytes of the values of these puts.
  uint64_t value_bytes_written(std::size_t family) const {
    return families_[family].value_bytes_written.Get();
  }
  // Returns the keys that the thread has added to a family, minus those it has removed.
  int64_t live_keys_added(std::size_t family) const {
    return families_[family].live_keys_added.load(std::memory_order_relaxed);
  }
  // Returns true while the thread waits for the start of its next operation, and false during one.
  bool waiting() const { return waiting_.load(std::memory_order_acquire); }
  // Adds the thread's operations, user bytes and CPU time to `*totals` and its families. REQUIRES: it has an
  // element for each family.
  void AddTo(RunTotals* totals) const;

 private:
  struct KindCounters {
    Counter found;
    Histogram latency_ns;
  };
  // What operations on a family need, and their counters.
  struct Family {
    uint64_t key_bytes = 0;
    const ValueSource* values = nullptr;
    LiveKeys* live_keys = nullptr;
    std::array<KindCounters, kOperationKindCount> kinds;
    Counter user_bytes_read;
    Counter user_bytes_written;
    Counter entries_written;
    Counter value_bytes_written;
    std::atomic<int64_t> live_keys_added{0};
  };

  // Performs operations until the clock is closed or an operation fails.
  void Run();
  // Waits until the intended start and until the gate is open, and returns true; false once the clock is
  // closed.
  bool WaitForStart(RunClock::Nanos intended);
  // Waits until the operation may start and returns true; false once the clock is closed.
  bool WaitForTurn();
  rocksdb::Status Perform(const Operation& operation);
  rocksdb::Status Get(const Operation& operation);
  rocksdb::Status Put(const Operation& operation);
  rocksdb::Status Delete(const Operation& operation);
  rocksdb::Status DeleteRange(const Operation& operation);
  rocksdb::Status Scan(const Operation& operation);
  static void AddLiveKeys(Family* family, int64_t keys);
  Family& FamilyOf(const Operation& operation) { return families_[operation.family]; }
  KindCounters& CountersOf(const Operation& operation) {
    return FamilyOf(operation).kinds[static_cast<std::size_t>(operation.kind)];
  }

  const LoadTargets& targets_;
  OperationStream operations_;
  std::string key_;
  std::string end_key_;  // of a range to delete
  rocksdb::PinnableSlice value_;
  uint64_t value_position_;  // of the next value in the ValueSource

  std::vector<Family> families_;  // by index
  Counter completed_;
  std::atomic<bool> waiting_{false};
  ThreadCpuClock cpu_;
  std::thread thread_;  // last, because the thread uses all members above
};

}  // namespace rocktune
