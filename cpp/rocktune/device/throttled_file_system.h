#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include <rocksdb/file_system.h>

#include "rocktune/device/device_spec.h"
#include "rocktune/util/io_cause.h"
#include "rocktune/util/run_clock.h"

namespace rocktune {

// Bytes and device operations so far, by cause (indexed by IoCause).
struct DeviceCounters {
  std::array<uint64_t, kIoCauseCount> bytes{};
  std::array<uint64_t, kIoCauseCount> operations{};
};

// A FileSystem that forwards to another one, lets a store's data I/O (SST, blob and WAL files) take the time
// that a device would need, and counts it by cause. LOG, MANIFEST and other metadata pass freely. Time is the
// run's: while the clock stands still no data I/O completes; when it is closed none waits.
//
// Bandwidth is charged when bytes are appended or read; IOPS and write latency at Sync, RangeSync, or per
// 256 KiB of appends; requests are served first come, first served in slices of 64 KiB, with at most 10 ms
// of credit for idle time. Prefetch is NotSupported, mmap reads are refused (InvalidArgument).
//
// Thread-safe. `clock` must outlive the file system; the file system must outlive every store opened on it.
class ThrottledFileSystem : public rocksdb::FileSystemWrapper {
 public:
  ThrottledFileSystem(std::shared_ptr<rocksdb::FileSystem> base, const DeviceSpec& spec, RunClock* clock);
  ~ThrottledFileSystem() override;

  const char* Name() const override { return "rocktune.ThrottledFileSystem"; }

  DeviceCounters Counters() const;
  // Bytes now stored by files written through this file system (what capacity_bytes limits).
  uint64_t StoredBytes() const;
  // While unthrottled, I/O costs nothing and waits for nothing, not even for a stopped clock (loading a
  // base); it is still counted.
  void SetThrottled(bool throttled);

  // The overridden operations are declared here by the device's author.
  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace rocktune
