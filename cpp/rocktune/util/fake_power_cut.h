#pragma once

#include <rocksdb/file_system.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace rocktune {

// A file system for tests that records the synced length of every file, so that CutPower can cut off the
// rest. A file's record is a hidden file in the same directory, which survives the process. It has the file's
// inode in its name, so that a kill during a rename cannot leave a file with the record of another. Directory
// entries count as durable at once: renames and deletions survive a power cut without a sync. Several threads
// may use it if no two of them write the same file.
class SyncTrackingFileSystem : public rocksdb::FileSystemWrapper {
 public:
  SyncTrackingFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "rocktune.SyncTrackingFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = target()->NewWritableFile(name, options, file, debug);
    if (status.ok()) {
      // One of a deleted file that had the same inode. It is not removed earlier: the inode could be in use.
      std::filesystem::remove(RecordPath(name));
      *file = std::make_unique<File>(std::move(*file), name);
    }
    return status;
  }

  rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = target()->ReopenWritableFile(name, options, file, debug);
    if (status.ok()) {
      *file = std::make_unique<File>(std::move(*file), name);
    }
    return status;
  }

  // A link has the length of the file that was synced by then. REQUIRES: nothing is appended afterwards, as
  // is true of tables.
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = target()->LinkFile(from, to, options, debug);
    const std::filesystem::path record(RecordPath(from));
    const std::filesystem::path linked = std::filesystem::path(to).parent_path() / record.filename();
    if (status.ok() && record != linked) {
      std::error_code ignored;  // a file that was never synced has no record
      std::filesystem::copy_file(record, linked, std::filesystem::copy_options::overwrite_existing, ignored);
    }
    return status;
  }

  // Truncates each file in `directory` to its synced length.
  // REQUIRES: no process has the database in `directory` open.
  static void CutPower(const std::string& directory) {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      const std::string path = entry.path().string();
      if (entry.path().filename().string().starts_with(kPrefix) || !entry.is_regular_file()) {
        continue;
      }
      std::uintmax_t synced = 0;
      std::ifstream(RecordPath(path)) >> synced;
      if (synced < std::filesystem::file_size(path)) {
        std::filesystem::resize_file(path, synced);
      }
    }
  }

 private:
  // A prefix and not a suffix: RocksDB would take OPTIONS-000007.synced for an OPTIONS file.
  static constexpr const char* kPrefix = ".synced-";

  class File : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> file, const std::string& path)
        : FSWritableFileOwnerWrapper(std::move(file)), path_(path), record_path_(RecordPath(path)) {}

    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
      return RecordLength(FSWritableFileOwnerWrapper::Sync(options, debug));
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
      return RecordLength(FSWritableFileOwnerWrapper::Fsync(options, debug));
    }

   private:
    rocksdb::IOStatus RecordLength(rocksdb::IOStatus status) {
      // Not GetFileSize, which does not count what a reopened file had.
      std::error_code is_gone;
      const std::uintmax_t length = std::filesystem::file_size(path_, is_gone);
      if (status.ok() && !is_gone) {
        // Replaced by a rename: a record half-written when the process is killed would be too short a length.
        std::ofstream(record_path_ + "~") << length;
        std::filesystem::rename(record_path_ + "~", record_path_);
      }
      return status;
    }

    const std::string path_;
    const std::string record_path_;
  };

  static std::string RecordPath(const std::string& path) {
    struct stat found {};
    stat(path.c_str(), &found);
    return std::filesystem::path(path).parent_path() / (kPrefix + std::to_string(found.st_ino));
  }
};

}  // namespace rocktune
