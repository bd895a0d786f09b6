#pragma once

#include <rocksdb/file_system.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

namespace rocktune {

// For tests: notes beside every file how much of it has been synced, in a file that survives the process, so
// that CutPower can take away the rest. Directories count as durable at once.
class SyncNotingFileSystem : public rocksdb::FileSystemWrapper {
 public:
  SyncNotingFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "rocktune.SyncNotingFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = target()->NewWritableFile(name, options, file, debug);
    if (status.ok()) {
      std::filesystem::remove(Note(name));
      *file = std::make_unique<File>(std::move(*file), Note(name));
    }
    return status;
  }

  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = target()->RenameFile(from, to, options, debug);
    std::error_code none;
    std::filesystem::rename(Note(from), Note(to), none);
    return status;
  }

  // Leaves of each file of a database what has been synced. The database's process must be dead.
  static void CutPower(const std::string& directory) {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      const std::string path = entry.path().string();
      if (entry.path().filename().string().starts_with(kBeginning) || !entry.is_regular_file()) {
        continue;
      }
      std::uintmax_t synced = 0;
      std::ifstream(Note(path)) >> synced;
      if (synced < std::filesystem::file_size(path)) {
        std::filesystem::resize_file(path, synced);
      }
    }
  }

 private:
  // Not an ending, for RocksDB takes OPTIONS-000007.synced for an OPTIONS file.
  static constexpr const char* kBeginning = ".synced-";

  class File : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> file, std::string note)
        : FSWritableFileOwnerWrapper(std::move(file)), note_(std::move(note)) {}

    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
      return Noted(FSWritableFileOwnerWrapper::Sync(options, debug), options, debug);
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
      return Noted(FSWritableFileOwnerWrapper::Fsync(options, debug), options, debug);
    }

   private:
    rocksdb::IOStatus Noted(rocksdb::IOStatus status, const rocksdb::IOOptions& options,
                            rocksdb::IODebugContext* debug) {
      if (status.ok()) {
        // Replaced whole: a note that is half-written when the process dies would say too little.
        std::ofstream(note_ + "~") << GetFileSize(options, debug);
        std::filesystem::rename(note_ + "~", note_);
      }
      return status;
    }

    const std::string note_;
  };

  static std::string Note(const std::string& path) {
    const std::filesystem::path of(path);
    return of.parent_path() / (kBeginning + of.filename().string());
  }
};

}  // namespace rocktune
