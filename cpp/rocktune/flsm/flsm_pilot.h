#pragma once

#include <rocksdb/status.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "rocktune/flsm_controller.h"
#include "rocktune/flsm_store.h"

namespace rocktune {

// Returns how long a pilot's thread waits until it looks at the counters again: half of the expected time for
// the operations that are left of the mission, from 1 to 100 ms, but not less than `min_wait`. An
// `operation_ns` of 0, the mean time of an operation, is unknown; the thread then waits for 100 ms.
std::chrono::milliseconds UntilNextCheck(uint64_t left, double operation_ns,
                                         std::chrono::nanoseconds min_wait);

// Divides a store's operations into missions and applies a controller's decisions, on a thread of its own. No
// operation waits for it.
//
// A mission has at least the given number of operations. It also lasts at least `min_mission_per_cpu` times
// the CPU time that the thread used for the decision before it and for looking at the counters during it; 100
// let the thread use at most 1% of a processor. Without operations no mission ends.
//
// Does not own store and controller, which must outlive it. Thread-safe. Throws no exception.
class FlsmPilot {
 public:
  // Starts the thread and the first mission. An `operations` of 0 counts as 1.
  FlsmPilot(FlsmStore* store, FlsmController* controller, uint64_t operations, int min_mission_per_cpu = 100);
  // Calls Stop.
  ~FlsmPilot();
  FlsmPilot(const FlsmPilot&) = delete;
  FlsmPilot& operator=(const FlsmPilot&) = delete;

  // Waits for a running decision, and ends the thread. May be repeated, by one thread.
  void Stop();
  // Returns the number of missions that have ended.
  uint64_t missions() const;
  // Returns the CPU time of the thread, in nanoseconds.
  uint64_t cpu_ns() const { return cpu_ns_.load(); }
  // Returns the store's error for the latest policy change that it refused; OK if it refused none.
  rocksdb::Status LastRefusal() const;

 private:
  // The body of the thread. `before` holds the statistics at the first mission's beginning.
  void RunMissions(FlsmStatistics before);
  // Numbers a mission, and decides about the next one.
  void EndMission(FlsmMission mission);
  // Asks the controller and applies its changes; an error is kept for LastRefusal.
  void Decide(const FlsmMission& mission);

  FlsmStore* const store_;
  FlsmController* const controller_;
  const uint64_t operations_;
  const int min_mission_per_cpu_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  uint64_t missions_ = 0;
  rocksdb::Status last_refusal_;
  std::atomic<uint64_t> cpu_ns_{0};
  std::thread thread_;  // last, since it uses the other members
};

}  // namespace rocktune
