#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace rocktune {

// A file system for tests whose appends fail while `fails` is true. Reads, new files, renames and deletions
// succeed, as on a full disk. Forwards everything else to the default file system. Thread-safe.
class FailingFileSystem : public rocksdb::FileSystemWrapper {
 public:
  // Appends fail with `failure`. They fail only in files whose path contains `path_part`; "" means all files.
  explicit FailingFileSystem(rocksdb::IOStatus failure, std::string path_part = "")
      : FileSystemWrapper(rocksdb::FileSystem::Default()),
        failure_(std::move(failure)),
        path_part_(std::move(path_part)) {}
  const char* Name() const override { return "rocktune.FailingFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = target()->NewWritableFile(name, options, file, debug);
    if (status.ok() && name.find(path_part_) != std::string::npos) {
      *file = std::make_unique<File>(std::move(*file), this);
    }
    return status;
  }

  // True while appends fail. Applies to files that are open already, too. Any thread may set it.
  std::atomic<bool> fails{false};

 private:
  class File : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> file, const FailingFileSystem* disk)
        : FSWritableFileOwnerWrapper(std::move(file)), disk_(disk) {}

    using FSWritableFileOwnerWrapper::Append;  // or the override below would hide the other overload
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
      return disk_->fails ? disk_->failure_ : FSWritableFileOwnerWrapper::Append(data, options, debug);
    }

   private:
    const FailingFileSystem* const disk_;
  };

  const rocksdb::IOStatus failure_;
  const std::string path_part_;
};

}  // namespace rocktune
