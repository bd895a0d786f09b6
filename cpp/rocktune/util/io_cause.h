#pragma once

#include <rocksdb/listener.h>

#include <array>
#include <cstddef>
#include <memory>

namespace rocktune {

// Why a byte crosses the device.
enum class IoCause { kWal, kFlush, kCompactionRead, kCompactionWrite, kUserRead, kOther };

inline constexpr std::size_t kIoCauseCount = 6;
// Names as they stand in JSON, indexed by IoCause.
inline constexpr std::array<const char*, kIoCauseCount> kIoCauseNames = {
    "wal", "flush", "compaction_read", "compaction_write", "user_read", "other"};

// What the calling thread is doing. RocksDB's rate-limiter priority is not cause (under stalls flush and
// compaction both arrive as "user"), so threads say themselves what they do.
enum class ThreadRole { kOther, kUser, kFlush, kCompaction };

namespace internal {

// Two variables, because a thread with a role of its own may run a job too (CompactFiles compacts on the
// thread that calls it), and is what it was when the job is done.
inline constinit thread_local ThreadRole own_role = ThreadRole::kOther;
inline constinit thread_local ThreadRole job_role = ThreadRole::kOther;

}  // namespace internal

inline ThreadRole CurrentThreadRole() {
  return internal::job_role != ThreadRole::kOther ? internal::job_role : internal::own_role;
}

// Sets the calling thread's role for a scope; the runner's load threads are kUser. While the thread runs a
// flush or a compaction that the listener below sees, that comes first.
class ScopedThreadRole {
 public:
  explicit ScopedThreadRole(ThreadRole role);
  ~ScopedThreadRole();
  ScopedThreadRole(const ScopedThreadRole&) = delete;
  ScopedThreadRole& operator=(const ScopedThreadRole&) = delete;

 private:
  ThreadRole previous_;
};

// A listener that marks RocksDB's background threads as flushing or compacting while they are. Add it to
// DBOptions::listeners of every store whose I/O is to be told apart.
std::shared_ptr<rocksdb::EventListener> NewThreadRoleListener();

}  // namespace rocktune
