#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace rocktune {

// For tests: a file system on which, while `full` is set, nothing can be written that takes room. The
// MANIFEST still finds some in its last block: where CompactFiles cannot write it, RocksDB 7.8 does not keep
// obsolete files from being deleted, as it does for its own compactions, and an assertion of its ends the
// process when it goes on.
class FullDiskFileSystem : public rocksdb::FileSystemWrapper {
 public:
  FullDiskFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "rocktune.FullDiskFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = target()->NewWritableFile(name, options, file, debug);
    if (status.ok() && name.find("MANIFEST") == std::string::npos) {
      *file = std::make_unique<File>(std::move(*file), &full);
    }
    return status;
  }

  std::atomic<bool> full{false};

 private:
  class File : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> file, const std::atomic<bool>* full)
        : FSWritableFileOwnerWrapper(std::move(file)), full_(full) {}

    using FSWritableFileOwnerWrapper::Append;
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
      return *full_ ? rocksdb::IOStatus::NoSpace("the disk is full")
                    : FSWritableFileOwnerWrapper::Append(data, options, debug);
    }

   private:
    const std::atomic<bool>* const full_;
  };
};

}  // namespace rocktune
