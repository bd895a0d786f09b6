#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace rocktune {

// For tests: a file system on which, while `fails` is set, nothing can be written that takes room.
class FailingFileSystem : public rocksdb::FileSystemWrapper {
 public:
  // Writes fail with `failure`, those alone to files whose names contain `only`.
  explicit FailingFileSystem(rocksdb::IOStatus failure, std::string only = "")
      : FileSystemWrapper(rocksdb::FileSystem::Default()),
        failure_(std::move(failure)),
        only_(std::move(only)) {}
  const char* Name() const override { return "rocktune.FailingFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = target()->NewWritableFile(name, options, file, debug);
    if (status.ok() && name.find(only_) != std::string::npos) {
      *file = std::make_unique<File>(std::move(*file), this);
    }
    return status;
  }

  std::atomic<bool> fails{false};

 private:
  class File : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> file, const FailingFileSystem* disk)
        : FSWritableFileOwnerWrapper(std::move(file)), disk_(disk) {}

    using FSWritableFileOwnerWrapper::Append;
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
      return disk_->fails ? disk_->failure_ : FSWritableFileOwnerWrapper::Append(data, options, debug);
    }

   private:
    const FailingFileSystem* const disk_;
  };

  const rocksdb::IOStatus failure_;
  const std::string only_;
};

}  // namespace rocktune
