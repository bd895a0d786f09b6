#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace rocktune {

// How many bytes the files written so far hold, and whether a device of limited capacity has room for more.
// A file counts once however many hard links it has, and no longer when the last one is gone.
//
// Only a device of limited capacity keeps a total: a number that all writers share would be the dearest part
// of an append.
//
// Thread-safe; a File belongs to one writer at a time.
class StoredFiles {
 public:
  // One file's bytes.
  class File {
   public:
    uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

   private:
    friend class StoredFiles;
    std::atomic<uint64_t> bytes_{0};
    int names_ = 1;  // guarded by StoredFiles::mutex_
  };

  // 0 stands for a device without end.
  explicit StoredFiles(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // Without a limit this looks at every file.
  uint64_t bytes() const;
  uint64_t capacity_bytes() const { return capacity_bytes_; }

  // A new file of no bytes at `path`, in place of any that was there.
  std::shared_ptr<File> Create(const std::string& path);
  // The file at `path`; one of `bytes` that was not known before counts from now on.
  std::shared_ptr<File> Open(const std::string& path, uint64_t bytes);

  // Makes room for the file to reach `bytes`; false, with nothing changed, when the device is full.
  bool Grow(File* file, uint64_t bytes) {
    if (capacity_bytes_ != 0) {
      return GrowWithin(file, bytes);
    }
    if (bytes > file->bytes()) {
      file->bytes_.store(bytes, std::memory_order_relaxed);
    }
    return true;
  }
  void Shrink(File* file, uint64_t bytes);

  // These follow what has been done to the files themselves; paths not known are ignored.
  void Truncate(const std::string& path, uint64_t bytes);
  void Remove(const std::string& path);
  void Rename(const std::string& from, const std::string& to);
  void Link(const std::string& from, const std::string& to);

 private:
  bool GrowWithin(File* file, uint64_t bytes);
  // REQUIRES: mutex_ held.
  void RemoveLocked(const std::string& path);

  const uint64_t capacity_bytes_;
  std::atomic<uint64_t> bytes_{0};  // 0 without a limit
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<File>> files_;  // by normal path; guarded by mutex_
};

}  // namespace rocktune
