#include "rocktune/device/throttled_file_system.h"

#include <algorithm>
#include <utility>

#include "rocktune/device/data_file.h"

namespace rocktune {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

namespace {

// A base class, not a member: bases are constructed before members and destroyed after them, and the clock
// must outlive ThrottledFileSystemImpl, itself a base.
struct StartedClock {
  StartedClock() { clock.Start(); }
  RunClock clock;
};

// A file system whose clock always runs, for applications.
class AlwaysRunningFileSystem : private StartedClock, public ThrottledFileSystemImpl {
 public:
  AlwaysRunningFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base, const DeviceSpec& spec)
      : ThrottledFileSystemImpl(base, spec, &clock) {}
};

// A file that was written before under another name. Its file system may truncate it to the new bytes when
// it is closed: the POSIX one does if it preallocated.
class ReusedFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  ReusedFile(std::unique_ptr<rocksdb::FSWritableFile> base, std::string path,
             rocksdb::FileSystem* file_system, StoredFiles* stored_files)
      : FSWritableFileOwnerWrapper(std::move(base)),
        path_(std::move(path)),
        file_system_(file_system),
        stored_files_(stored_files) {}

  IOStatus Close(const IOOptions& options, IODebugContext* dbg) noexcept override {
    IOStatus status = target()->Close(options, dbg);
    uint64_t bytes = 0;
    if (status.ok() && file_system_->GetFileSize(path_, options, &bytes, dbg).ok()) {
      stored_files_->Truncate(path_, bytes);
    }
    return status;
  }

 private:
  const std::string path_;
  rocksdb::FileSystem* const file_system_;
  StoredFiles* const stored_files_;
};

}  // namespace

std::shared_ptr<ThrottledFileSystem> ThrottledFileSystem::Create(
    const std::shared_ptr<rocksdb::FileSystem>& base, const DeviceSpec& spec) {
  return std::make_shared<AlwaysRunningFileSystem>(base, spec);
}

ThrottledFileSystemImpl::ThrottledFileSystemImpl(const std::shared_ptr<rocksdb::FileSystem>& base,
                                                 const DeviceSpec& spec, RunClock* clock)
    : ThrottledFileSystem(base), throttle_(spec, clock), stored_files_(spec.capacity_bytes) {}

IOStatus ThrottledFileSystemImpl::NewSequentialFile(const std::string& path, const FileOptions& options,
                                                    std::unique_ptr<rocksdb::FSSequentialFile>* result,
                                                    IODebugContext* dbg) noexcept {
  IOStatus status = target()->NewSequentialFile(path, options, result, dbg);
  const FileKind kind = FileKindOf(path);
  if (status.ok() && kind != FileKind::kMetadata) {
    *result = ThrottleSequentialFile(std::move(*result), kind, &throttle_);
  }
  return status;
}

IOStatus ThrottledFileSystemImpl::NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                                      std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                                      IODebugContext* dbg) noexcept {
  const FileKind kind = FileKindOf(path);
  if (kind != FileKind::kMetadata && options.use_mmap_reads) {
    return IOStatus::InvalidArgument(
        "memory-mapped reads cannot be throttled or counted; set allow_mmap_reads=false", path);
  }
  IOStatus status = target()->NewRandomAccessFile(path, options, result, dbg);
  if (status.ok() && kind != FileKind::kMetadata) {
    *result = ThrottleRandomAccessFile(std::move(*result), kind, &throttle_);
  }
  return status;
}

IOStatus ThrottledFileSystemImpl::AdoptFiles(const std::string& directory) {
  std::vector<rocksdb::FileAttributes> files;
  IOStatus status = target()->GetChildrenFileAttributes(directory, IOOptions(), &files, nullptr);
  if (status.ok()) {
    for (const rocksdb::FileAttributes& file : files) {
      if (FileKindOf(file.name) != FileKind::kMetadata) {
        stored_files_.Adopt(directory + "/" + file.name, file.size_bytes);
      }
    }
  }
  return status;
}

IOStatus ThrottledFileSystemImpl::NewWritableFile(const std::string& path, const FileOptions& options,
                                                  std::unique_ptr<rocksdb::FSWritableFile>* result,
                                                  IODebugContext* dbg) noexcept {
  IOStatus status = target()->NewWritableFile(path, options, result, dbg);
  const FileKind kind = FileKindOf(path);
  if (status.ok() && kind != FileKind::kMetadata) {
    *result = ThrottleWritableFile(std::move(*result), kind, &throttle_, &stored_files_,
                                   stored_files_.Create(path), 0);
  }
  return status;
}

IOStatus ThrottledFileSystemImpl::ReopenWritableFile(const std::string& path, const FileOptions& options,
                                                     std::unique_ptr<rocksdb::FSWritableFile>* result,
                                                     IODebugContext* dbg) noexcept {
  IOStatus status = target()->ReopenWritableFile(path, options, result, dbg);
  const FileKind kind = FileKindOf(path);
  if (status.ok() && kind != FileKind::kMetadata) {
    const uint64_t size = (*result)->GetFileSize(options.io_options, dbg);
    *result = ThrottleWritableFile(std::move(*result), kind, &throttle_, &stored_files_,
                                   stored_files_.Open(path, size), size);
  }
  return status;
}

IOStatus ThrottledFileSystemImpl::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                                    const FileOptions& options,
                                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                                    IODebugContext* dbg) noexcept {
  IOStatus status = target()->ReuseWritableFile(path, old_path, options, result, dbg);
  const FileKind kind = FileKindOf(path);
  if (status.ok() && kind != FileKind::kMetadata) {
    // The file keeps its size until it is closed; new appends overwrite the old bytes from offset 0.
    stored_files_.Rename(old_path, path);
    *result = std::make_unique<ReusedFile>(std::move(*result), path, target(), &stored_files_);
    *result = ThrottleWritableFile(std::move(*result), kind, &throttle_, &stored_files_,
                                   stored_files_.Open(path, 0), 0);
  }
  return status;
}

IOStatus ThrottledFileSystemImpl::NewRandomRWFile(const std::string& path, const FileOptions& options,
                                                  std::unique_ptr<rocksdb::FSRandomRWFile>* result,
                                                  IODebugContext* dbg) noexcept {
  IOStatus status = target()->NewRandomRWFile(path, options, result, dbg);
  const FileKind kind = FileKindOf(path);
  if (status.ok() && kind != FileKind::kMetadata) {
    *result = ThrottleRandomRWFile(std::move(*result), kind, &throttle_);
  }
  return status;
}

IOStatus ThrottledFileSystemImpl::DeleteFile(const std::string& path, const IOOptions& options,
                                             IODebugContext* dbg) noexcept {
  IOStatus status = target()->DeleteFile(path, options, dbg);
  if (status.ok()) {
    stored_files_.Remove(path);
  }
  return status;
}

IOStatus ThrottledFileSystemImpl::Truncate(const std::string& path, size_t size, const IOOptions& options,
                                           IODebugContext* dbg) noexcept {
  IOStatus status = target()->Truncate(path, size, options, dbg);
  if (status.ok()) {
    stored_files_.Truncate(path, size);
  }
  return status;
}

IOStatus ThrottledFileSystemImpl::RenameFile(const std::string& from, const std::string& to,
                                             const IOOptions& options, IODebugContext* dbg) noexcept {
  IOStatus status = target()->RenameFile(from, to, options, dbg);
  if (status.ok()) {
    stored_files_.Rename(from, to);
  }
  return status;
}

IOStatus ThrottledFileSystemImpl::LinkFile(const std::string& from, const std::string& to,
                                           const IOOptions& options, IODebugContext* dbg) noexcept {
  IOStatus status = target()->LinkFile(from, to, options, dbg);
  if (status.ok()) {
    stored_files_.Link(from, to);
  }
  return status;
}

IOStatus ThrottledFileSystemImpl::GetFreeSpace(const std::string& path, const IOOptions& options,
                                               uint64_t* free_bytes, IODebugContext* dbg) noexcept {
  IOStatus status = target()->GetFreeSpace(path, options, free_bytes, dbg);
  const uint64_t capacity_bytes = stored_files_.capacity_bytes();
  if (status.ok() && capacity_bytes != 0) {
    *free_bytes = std::min(*free_bytes, capacity_bytes - std::min(capacity_bytes, stored_files_.bytes()));
  }
  return status;
}

IOStatus ThrottledFileSystemImpl::Poll(std::vector<void*>& /*io_handles*/,
                                       size_t /*min_completions*/) noexcept {
  return IOStatus::OK();
}

IOStatus ThrottledFileSystemImpl::AbortIO(std::vector<void*>& /*io_handles*/) noexcept {
  return IOStatus::OK();
}

}  // namespace rocktune
