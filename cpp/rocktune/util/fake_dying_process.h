#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <utility>

namespace rocktune {

// A file system for tests that kills its process, by SIGKILL, at one of the operations that change a
// directory.
class DyingFileSystem : public rocksdb::FileSystemWrapper {
 public:
  // Dies at the operation number `dies_at`, from 1; at none with 0. Only operations on files whose names
  // begin with `prefix` count. A rename counts by its new name.
  explicit DyingFileSystem(int dies_at, std::string prefix = "",
                           const std::shared_ptr<rocksdb::FileSystem>& base = rocksdb::FileSystem::Default())
      : FileSystemWrapper(base), prefix_(std::move(prefix)), operations_left_(dies_at) {}
  const char* Name() const override { return "rocktune.DyingFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    Count(name);
    return target()->NewWritableFile(name, options, file, debug);
  }
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    Count(to);
    return target()->LinkFile(from, to, options, debug);
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    Count(to);
    return target()->RenameFile(from, to, options, debug);
  }
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    Count(name);
    return target()->DeleteFile(name, options, debug);
  }

 private:
  void Count(const std::string& path) {
    if (path.compare(path.rfind('/') + 1, prefix_.size(), prefix_) == 0 && --operations_left_ == 0) {
      std::raise(SIGKILL);
    }
  }

  const std::string prefix_;
  std::atomic<int> operations_left_;
};

}  // namespace rocktune
