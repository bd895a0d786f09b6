#pragma once

#include <rocksdb/file_system.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/device/device_spec.h"
#include "rocktune/device/io_counters.h"
#include "rocktune/device/stored_files.h"
#include "rocktune/device/throttle.h"
#include "rocktune/util/run_clock.h"

namespace rocktune {

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
  ThrottledFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base, const DeviceSpec& spec,
                      RunClock* clock);

  const char* Name() const override { return "rocktune.ThrottledFileSystem"; }

  // What has passed the device so far: a large request counts slice by slice.
  DeviceCounters Counters() const { return throttle_.Counters(); }
  // Bytes now stored by data files written through this file system (what capacity_bytes limits).
  uint64_t StoredBytes() const { return stored_files_.bytes(); }
  // While unthrottled, I/O costs nothing and waits for nothing, not even for a stopped clock (loading a
  // base); it is still counted.
  void SetThrottled(bool throttled) { throttle_.SetEnabled(throttled); }

  rocksdb::IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* result,
                                      rocksdb::IODebugContext* dbg) noexcept override;
  rocksdb::IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext* dbg) noexcept override;
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* dbg) noexcept override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* result,
                                       rocksdb::IODebugContext* dbg) noexcept override;
  rocksdb::IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* result,
                                      rocksdb::IODebugContext* dbg) noexcept override;
  rocksdb::IOStatus NewRandomRWFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSRandomRWFile>* result,
                                    rocksdb::IODebugContext* dbg) noexcept override;

  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* dbg) noexcept override;
  rocksdb::IOStatus Truncate(const std::string& path, size_t size, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* dbg) noexcept override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* dbg) noexcept override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* dbg) noexcept override;
  rocksdb::IOStatus GetFreeSpace(const std::string& path, const rocksdb::IOOptions& options,
                                 uint64_t* free_bytes, rocksdb::IODebugContext* dbg) noexcept override;

  // Reads are never left to complete later, so there is nothing to wait for or to abort.
  rocksdb::IOStatus Poll(std::vector<void*>& io_handles, size_t min_completions) noexcept override;
  rocksdb::IOStatus AbortIO(std::vector<void*>& io_handles) noexcept override;

  // RocksDB 8 and later ask which of some optional features (prefetching, asynchronous reads) there are;
  // 7.8 does not, which is why `override` cannot stand here.
  void SupportedOps(int64_t& supported_operations) noexcept { supported_operations = 0; }

 private:
  Throttle throttle_;
  StoredFiles stored_files_;
};

}  // namespace rocktune
