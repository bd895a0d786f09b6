#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rocktune/workload/arrival.h"
#include "rocktune/workload/operation_stream.h"
#include "rocktune/workload/session_clock.h"
#include "rocktune/workload/trace_file.h"
#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// Sets the keys and the preload of a workload with a trace to those of the trace file: a preload of as many
// keys as the workload has means all keys, another preload those that the trace says are present. A family
// with stored entries gets these, whatever its preload. Returns the file. Throws std::invalid_argument as
// TraceFile does, and if the file has other column families than the workload. REQUIRES: the workload has a
// trace.
std::unique_ptr<TraceFile> ResolveTrace(WorkloadSpec* spec);

// Hands the operations of a trace to the load threads, in the trace's order and, with the arrival `recorded`,
// at the trace's times. Operations on one key follow each other as in the trace, except that reads between
// two writes may overlap. A range delete is a write of all its keys. After its last operation the trace
// begins again.
//
// Thread-safe. `arrivals` must outlive it.
class TraceReplay {
 public:
  // Throws std::invalid_argument if the file cannot be read. REQUIRES: a spec that ResolveTrace returned.
  TraceReplay(const WorkloadSpec& spec, const std::vector<Arrival>& arrivals);

  // An operation's places among those of its keys.
  struct Turn {
    struct Place {
      std::size_t stripe = 0;
      uint64_t operations_before = 0;
      uint64_t writes_before = 0;
    };
    bool write = false;
    std::vector<Place> places;  // in different stripes
  };
  // Returns the next operation and its turn. The thread must call Done, unless the run has ended, and may
  // perform the operation once MayStart is true. Throws std::invalid_argument if the file cannot be read.
  Operation Take(int64_t now_ns, Turn* turn);
  // Returns true if the operations of the keys that must come before are done.
  bool MayStart(const Turn& turn) const;
  void Done(const Turn& turn);

 private:
  void Enter(std::size_t stripe, Turn* turn);
  // Enters the stripes of a range's keys.
  void EnterRange(const TraceOperation& range, Turn* turn);

  // Keys share stripes, so that their number is fixed.
  static constexpr std::size_t kStripes = 4096;
  struct Stripe {
    uint64_t operations = 0, writes = 0;  // that were taken
    std::atomic<uint64_t> operations_done{0}, writes_done{0};
  };

  const TraceFile file_;
  const bool recorded_;
  const int64_t period_ns_;  // from a beginning of the trace to the next one
  std::mutex mutex_;         // guards all below but the atomic counters
  TraceFile::Cursor cursor_;
  SessionClock clock_;
  int64_t begin_ns_ = 0;  // run time of the trace's beginning
  std::array<Stripe, kStripes> stripes_;
  std::vector<bool> entered_;  // by stripe, by the range delete that is being taken
};

}  // namespace rocktune
