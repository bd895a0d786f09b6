#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>

#include "rocktune/device_spec.h"
#include "rocktune/io_cause.h"

namespace rocktune {

// A FileSystem that makes a store's data I/O take the time that a given device would need, and counts it by
// cause. It forwards every call to another FileSystem. Data I/O is that of SST, blob and WAL files; LOG,
// MANIFEST and other metadata are neither slowed nor counted.
//
//     auto files = rocktune::ThrottledFileSystem::Create(rocksdb::FileSystem::Default(),
//                                                        {.bandwidth_bytes_s = 100'000'000});
//     std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
//     options.env = env.get();
//     options.listeners.push_back(rocktune::NewThreadRoleListener());
//
// Charges: bandwidth when bytes are appended or read; IOPS and write latency at Sync, at RangeSync and after
// each 256 KiB of appends. Requests are served first come, first served, in slices of 64 KiB, so that a small
// read waits for one slice of a large write and not for all of it. Idle time earns at most 10 ms of credit.
//
// Ownership: the file system must outlive every store opened on it.
// Threads: thread-safe. No thread sleeps while it holds a lock.
// Failure: returns what the other FileSystem returns; NoSpace for a write beyond DeviceSpec::capacity_bytes.
// Refused: Prefetch returns NotSupported, so that no read escapes the count; memory-mapped reads
// (EnvOptions::use_mmap_reads) return InvalidArgument. Asynchronous reads complete before they return.
class ThrottledFileSystem : public rocksdb::FileSystemWrapper {
 public:
  // Returns a file system in front of `base` whose device is used at once, with `spec`'s limits.
  static std::shared_ptr<ThrottledFileSystem> Create(const std::shared_ptr<rocksdb::FileSystem>& base,
                                                     const DeviceSpec& spec);

  const char* Name() const override { return "rocktune.ThrottledFileSystem"; }

  // Returns the I/O that has passed the device so far. A large request is counted slice by slice.
  virtual DeviceCounters Counters() const = 0;
  // Returns the bytes that data files hold which were written through this file system; the device's
  // capacity limits them. Looks at every file if the capacity is unlimited.
  virtual uint64_t StoredBytes() const = 0;
  // Switches the limits and latencies off and on again. I/O is counted, and the capacity holds, in both
  // cases.
  virtual void SetThrottled(bool throttled) = 0;

 protected:
  using FileSystemWrapper::FileSystemWrapper;
};

}  // namespace rocktune
