#pragma once

#include <rocksdb/status.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/flsm_shape.h"
#include "rocktune/flsm_statistics.h"
#include "rocktune/flsm_store.h"

namespace rocktune {

// What happened in a mission: a stretch of operations after which policies may change (RusKey, section 3).
struct FlsmMission {
  uint64_t number = 0;        // from 1, since the pilot was made
  double seconds = 0;         // from the last one's end to this one's
  FlsmStatistics statistics;  // of the mission alone
  FlsmShape shape;            // at its end
};

struct FlsmPolicyChange {
  int level = 1;
  int policy = 1;
  FlsmTransition transition = FlsmTransition::kFlexible;
};

// Decides about a store's policies while it serves.
class FlsmController {
 public:
  virtual ~FlsmController() = default;
  // Returns what to change after a mission. Is called on the pilot's thread, one mission after the other;
  // operations go on meanwhile. Must not throw.
  virtual std::vector<FlsmPolicyChange> Decide(const FlsmMission& mission) = 0;
};

// Has a controller steer a store, on a thread of its own: no operation ever waits for it.
//
// A mission ends when it has had its operations, but not before a hundred times as long as the last decision
// kept its thread running, so that deciding never costs more than a hundredth of a processor. A store that
// nobody uses has no missions.
class FlsmPilot {
 public:
  // Steers until it is destroyed, which waits for a decision that is being made. `store` and `controller`
  // have to live longer. A mission has at least `operations`.
  FlsmPilot(FlsmStore* store, FlsmController* controller, uint64_t operations);
  ~FlsmPilot();
  FlsmPilot(const FlsmPilot&) = delete;
  FlsmPilot& operator=(const FlsmPilot&) = delete;

  uint64_t missions() const;
  // What the store said to the last change that it refused; ok if it has refused none.
  rocksdb::Status LastRefusal() const;

 private:
  void Steer(FlsmStatistics before);
  void Decide(const FlsmMission& mission);

  FlsmStore* const store_;
  FlsmController* const controller_;
  const uint64_t operations_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  uint64_t missions_ = 0;
  rocksdb::Status last_refusal_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace rocktune
