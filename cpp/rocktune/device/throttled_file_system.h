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

// The implementation of ThrottledFileSystem, with a clock of the caller's. No data I/O completes while the
// clock is stopped, and no I/O waits once it is closed. `clock` must outlive the file system.
class ThrottledFileSystemImpl : public ThrottledFileSystem {
 public:
  ThrottledFileSystemImpl(const std::shared_ptr<rocksdb::FileSystem>& base, const DeviceSpec& spec,
                          RunClock* clock);

  DeviceCounters Counters() const override { return throttle_.Counters(); }
  uint64_t StoredBytes() const override { return stored_files_.bytes(); }
  // Lets the data files that a directory has already count in DataBytes; they do not in StoredBytes. Returns
  // the base's error.
  rocksdb::IOStatus AdoptFiles(const std::string& directory);
  // Returns the bytes of all data files. Looks at every file's count, not at the file.
  uint64_t DataBytes() const { return stored_files_.all_bytes(); }
  // While unthrottled, I/O does not wait for a stopped clock, so that a store can be opened and loaded.
  void SetThrottled(bool throttled) override { throttle_.SetEnabled(throttled); }

  // The next six functions open a file of the base and wrap it, as data_file.h describes, if it holds data.
  // They return the base's status. NewRandomAccessFile returns InvalidArgument for memory-mapped reads of
  // data.
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

  // The next four functions forward to the base and record a successful change in the stored files.
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
  // Returns the base's free bytes, but at most what is left of the capacity.
  rocksdb::IOStatus GetFreeSpace(const std::string& path, const rocksdb::IOOptions& options,
                                 uint64_t* free_bytes, rocksdb::IODebugContext* dbg) noexcept override;

  // Do nothing and return OK, because asynchronous reads complete before they return.
  rocksdb::IOStatus Poll(std::vector<void*>& io_handles, size_t min_completions) noexcept override;
  rocksdb::IOStatus AbortIO(std::vector<void*>& io_handles) noexcept override;

  // Sets `supported_operations` to none: neither prefetching nor asynchronous reads. Not marked `override`,
  // because RocksDB 7.8 has no such function.
  void SupportedOps(int64_t& supported_operations) noexcept { supported_operations = 0; }

 private:
  Throttle throttle_;
  StoredFiles stored_files_;
};

}  // namespace rocktune
