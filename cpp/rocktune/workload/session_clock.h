#pragma once

#include <cstdint>
#include <vector>

#include "rocktune/workload/arrival.h"
#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// When one thread's operations start: the sessions in turn, and within each its arrival. Operation n of all
// threads together belongs to thread n modulo threads, so that each gets its share of the rate and no two
// start at once; the count goes on from session to session.
//
// Not thread-safe. `sessions` and `arrivals` must outlive it.
class SessionClock {
 public:
  // REQUIRES: arrivals are those of the sessions, in order; thread < threads.
  SessionClock(const std::vector<SessionSpec>& sessions, const std::vector<Arrival>& arrivals,
               uint64_t thread, uint64_t threads);

  struct Start {
    std::size_t session;
    int64_t intended_ns;  // -1 for "at once"
  };
  // The thread's next operation. A session with arrivals is worked off also when it ended before `now_ns`,
  // but for the operations whose patience has ended; a closed session is left when it has ended. The first
  // operation of a closed session that is reached early is intended for the session's beginning.
  Start Next(int64_t now_ns);

 private:
  void EnterNextSession();

  const std::vector<SessionSpec>& sessions_;
  const std::vector<Arrival>& arrivals_;
  const double threads_;
  std::size_t session_ = 0;
  double begin_s_ = 0;
  int64_t begin_ns_ = 0;
  double next_operation_;  // of this thread, counted from the session's beginning
};

}  // namespace rocktune
