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

ThreadRole CurrentThreadRole();

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
