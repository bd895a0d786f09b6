#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace rocktune {

// The sizes of the data files on a device, and a check of the device's capacity. A file counts once, however
// many hard links it has, until its last link is removed. Only files that Create, Open or Adopt were called
// for count.
//
// A total is kept only if the capacity is limited: a counter that all writers share would be the most
// expensive part of an append.
//
// Thread-safe, except that one File must not be grown or shrunk by two threads at the same time.
class StoredFiles {
 public:
  // The size of one file, shared by all its links.
  class File {
   public:
    // Returns the file's size.
    uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

   private:
    friend class StoredFiles;
    std::atomic<uint64_t> bytes_{0};
    int links_ = 1;         // guarded by StoredFiles::mutex_
    bool adopted_ = false;  // written under StoredFiles::mutex_, before a thread grows or shrinks the file
  };

  // 0 for `capacity_bytes` means unlimited.
  explicit StoredFiles(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // Returns the bytes of all files but the adopted ones. Adds up every file's size if the capacity is
  // unlimited.
  uint64_t bytes() const;
  // Returns the bytes of all files. Adds up every file's size: some 20 us for a thousand.
  uint64_t all_bytes() const;
  // Returns the capacity; 0 means unlimited.
  uint64_t capacity_bytes() const { return capacity_bytes_; }

  // Adds an empty file at `path` and returns its entry. A file that was at `path` no longer counts.
  std::shared_ptr<File> Create(const std::string& path);
  // Adds the file at `path`, which was there before and does not count towards the capacity.
  void Adopt(const std::string& path, uint64_t bytes);
  // Returns the entry of the file at `path`, to be written to. A file without an entry is added with the size
  // `bytes`; an adopted one is no longer adopted.
  std::shared_ptr<File> Open(const std::string& path, uint64_t bytes);

  // Sets the file's size to `bytes` if that is larger than before. Returns false, and changes nothing, if the
  // capacity does not suffice.
  bool Grow(File* file, uint64_t bytes) {
    if (capacity_bytes_ != 0) {
      return GrowWithin(file, bytes);
    }
    if (bytes > file->bytes()) {
      file->bytes_.store(bytes, std::memory_order_relaxed);
    }
    return true;
  }
  // Sets the file's size to `bytes` if that is smaller than before.
  void Shrink(File* file, uint64_t bytes);

  // The functions below record changes that the caller has made to the files. Paths without an entry are
  // ignored.

  // Records that the file at `path` was truncated to `bytes`.
  void Truncate(const std::string& path, uint64_t bytes);
  // Records that the link at `path` was removed.
  void Remove(const std::string& path);
  // Records that a file was renamed, which replaces a file at `to`.
  void Rename(const std::string& from, const std::string& to);
  // Records that a hard link to the file at `from` was made at `to`.
  void Link(const std::string& from, const std::string& to);

 private:
  bool GrowWithin(File* file, uint64_t bytes);
  // Returns the bytes of all files, the adopted ones among them if `adopted` is true.
  uint64_t Total(bool adopted) const;
  // REQUIRES: mutex_ held.
  void RemoveLocked(const std::string& path);

  const uint64_t capacity_bytes_;
  std::atomic<uint64_t> bytes_{0};  // total of all files; stays 0 if the capacity is unlimited
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<File>> files_;  // by normalized path; guarded by mutex_
};

}  // namespace rocktune
