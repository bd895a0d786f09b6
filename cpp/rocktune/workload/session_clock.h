#pragma once

#include <cstdint>
#include <vector>

#include "rocktune/workload/arrival.h"
#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// The start times of one thread's operations. Sessions follow each other, after the last the first again, and
// each has its own arrival. Thread n modulo `threads` performs operation n of all threads together: each
// thread has an equal share of the rate, and no two start at the same time. The count continues in the next
// session.
//
// Ownership: `sessions` and `arrivals` must outlive the clock. Not thread-safe.
class SessionClock {
 public:
  // REQUIRES: arrivals are those of the sessions, in order; thread < threads.
  SessionClock(const std::vector<SessionSpec>& sessions, const std::vector<Arrival>& arrivals,
               uint64_t thread, uint64_t threads);

  // The start of an operation.
  struct Start {
    std::size_t session;  // index of the session whose mix applies
    int64_t intended_ns;  // the start in run time, in nanoseconds; -1 means at once
  };
  // Returns the start of the thread's next operation. `now_ns` is the present run time, in nanoseconds.
  // - A session with arrivals continues after its time until all its operations have started. Operations that
  //   are later than patience_s, if that is set, are left out.
  // - A closed session ends at its time. If it is entered before its beginning, its first operation is to
  //   start at the beginning.
  Start Next(int64_t now_ns);

 private:
  void EnterNextSession();

  const std::vector<SessionSpec>& sessions_;
  const std::vector<Arrival>& arrivals_;
  const double threads_;
  std::size_t session_ = 0;
  double begin_s_ = 0;
  int64_t begin_ns_ = 0;
  double next_operation_;  // number of this thread's next operation, from the session's beginning
};

}  // namespace rocktune
