#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <string>

namespace rocktune {

// A file system for tests that kills its process, by SIGKILL, at one of the operations that change a
// directory.
class DyingFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit DyingFileSystem(int dies_at)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), operations_left_(dies_at) {}
  const char* Name() const override { return "rocktune.DyingFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    Count();
    return target()->NewWritableFile(name, options, file, debug);
  }
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    Count();
    return target()->LinkFile(from, to, options, debug);
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    Count();
    return target()->RenameFile(from, to, options, debug);
  }
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    Count();
    return target()->DeleteFile(name, options, debug);
  }

 private:
  void Count() {
    if (--operations_left_ == 0) {
      std::raise(SIGKILL);
    }
  }

  std::atomic<int> operations_left_;
};

}  // namespace rocktune
