#pragma once

#include <rocksdb/file_system.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/device/stored_files.h"
#include "rocktune/device/throttle.h"
#include "rocktune/throttled_file_system.h"
#include "rocktune/util/run_clock.h"

namespace rocktune {

// The file system of ThrottledFileSystem::Create, with a clock of the caller's: time is the run's. While the
// clock is stopped no data I/O completes; once it is closed none waits. `clock` must outlive the file system.
class ThrottledFileSystemImpl : public ThrottledFileSystem {
 public:
  ThrottledFileSystemImpl(const std::shared_ptr<rocksdb::FileSystem>& base, const DeviceSpec& spec,
                          RunClock* clock);

  DeviceCounters Counters() const override { return throttle_.Counters(); }
  uint64_t StoredBytes() const override { return stored_files_.bytes(); }
  // Unthrottled I/O does not even wait for a stopped clock, so that a base can be loaded.
  void SetThrottled(bool throttled) override { throttle_.SetEnabled(throttled); }

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

  // Asynchronous reads complete at once, so there is nothing to wait for or to abort.
  rocksdb::IOStatus Poll(std::vector<void*>& io_handles, size_t min_completions) noexcept override;
  rocksdb::IOStatus AbortIO(std::vector<void*>& io_handles) noexcept override;

  // Returns that prefetching and asynchronous reads are not supported. RocksDB 7.8 has no such method, which
  // is why `override` cannot stand here.
  void SupportedOps(int64_t& supported_operations) noexcept { supported_operations = 0; }

 private:
  Throttle throttle_;
  StoredFiles stored_files_;
};

}  // namespace rocktune
