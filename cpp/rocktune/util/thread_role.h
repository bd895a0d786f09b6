#pragma once

#include "rocktune/io_cause.h"

namespace rocktune {

// What the calling thread is doing; with the file's kind it tells the cause of I/O. RocksDB's rate-limiter
// priority does not: under stalls flushes and compactions both arrive as "user".
enum class ThreadRole { kOther, kUser, kFlush, kCompaction };

namespace internal {

// Two variables, because a thread with a role of its own may run a job too (CompactFiles compacts on the
// thread that calls it), and has its own role again when the job is done.
inline constinit thread_local ThreadRole own_role = ThreadRole::kOther;
inline constinit thread_local ThreadRole job_role = ThreadRole::kOther;

}  // namespace internal

// Returns the role of the flush or compaction that the thread runs, or else the thread's own role.
inline ThreadRole CurrentThreadRole() {
  return internal::job_role != ThreadRole::kOther ? internal::job_role : internal::own_role;
}

// Sets the calling thread's own role for a scope, and its former one at the scope's end. A flush or
// compaction that the thread runs meanwhile, as NewThreadRoleListener reports it, comes first.
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
