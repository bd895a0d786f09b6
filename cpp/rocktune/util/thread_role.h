#pragma once

#include "rocktune/io_cause.h"

namespace rocktune {

// The kind of work that a thread does. Together with the kind of a file it gives the cause of I/O (IoCause).
// RocksDB's rate-limiter priority cannot serve for this: during stalls, flushes and compactions both have the
// priority of users.
enum class ThreadRole { kOther, kUser, kFlush, kCompaction };

namespace internal {

// Two variables, because a thread with a role of its own may run a job, too: CompactFiles compacts on the
// thread that calls it. When the job ends, the thread's own role applies again.
inline constinit thread_local ThreadRole own_role = ThreadRole::kOther;
inline constinit thread_local ThreadRole job_role = ThreadRole::kOther;

}  // namespace internal

// Returns the role of the flush or compaction that the calling thread runs, or else the thread's own role.
inline ThreadRole CurrentThreadRole() {
  return internal::job_role != ThreadRole::kOther ? internal::job_role : internal::own_role;
}

// Sets the calling thread's own role for a scope and restores the former one at its end. A flush or
// compaction that the thread runs in the scope takes precedence, if NewThreadRoleListener is among the
// store's listeners.
class ScopedThreadRole {
 public:
  explicit ScopedThreadRole(ThreadRole role);
  ~ScopedThreadRole();
  ScopedThreadRole(const ScopedThreadRole&) = delete;
  ScopedThreadRole& operator=(const ScopedThreadRole&) = delete;

 private:
  ThreadRole previous_;
};

}  // namespace rocktune
