#pragma once

#include <rocksdb/listener.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace rocktune {

// Why a byte crosses the device.
enum class IoCause { kWal, kFlush, kCompactionRead, kCompactionWrite, kUserRead, kOther };

inline constexpr std::size_t kIoCauseCount = 6;
// The causes' names in reports, indexed by IoCause.
inline constexpr std::array<const char*, kIoCauseCount> kIoCauseNames = {
    "wal", "flush", "compaction_read", "compaction_write", "user_read", "other"};

// I/O since the counting began, by cause. Each array is indexed by IoCause.
struct DeviceCounters {
  std::array<uint64_t, kIoCauseCount> bytes{};
  std::array<uint64_t, kIoCauseCount> operations{};  // device operations of at most 256 KiB
};

// Returns a listener that tells flushes and compactions apart from other I/O. It marks RocksDB's background
// threads while they run one. Add it to DBOptions::listeners of each store on a ThrottledFileSystem;
// without it, the I/O of flushes and compactions counts as kOther. The listener has no state: one may serve
// any number of stores. Thread-safe.
std::shared_ptr<rocksdb::EventListener> NewThreadRoleListener();

}  // namespace rocktune
