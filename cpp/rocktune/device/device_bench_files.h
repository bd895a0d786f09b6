#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

namespace rocktune {

// The files that device_bench reads and writes. All functions throw std::runtime_error if I/O fails.

using FilePointer = std::unique_ptr<rocksdb::FSWritableFile>;

inline constexpr uint64_t kMebibyte = 1 << 20;
inline constexpr uint64_t kReadBytes = 4 << 10;
inline constexpr uint64_t kWriteBytes = 2 * kMebibyte;
inline constexpr uint64_t kFileBytes = 64 * kMebibyte;

// Throws std::runtime_error with the status if it is not OK.
inline void Check(const rocksdb::IOStatus& status) {
  if (!status.ok()) {
    throw std::runtime_error(status.ToString());
  }
}

// Creates a directory in `parent` and deletes it in the destructor.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::string& parent) : path_(parent + "/device_bench_XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) {
      throw std::runtime_error("cannot create a directory in " + parent +
                               "; set --directory to a writable one");
    }
  }
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  // Returns the path of a file in the directory.
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Returns a new file at `path`, which replaces an older one.
inline FilePointer NewFile(rocksdb::FileSystem* file_system, const std::string& path) {
  FilePointer file;
  Check(file_system->NewWritableFile(path, rocksdb::FileOptions(), &file, nullptr));
  return file;
}

inline void Append(const FilePointer& file, const std::string& data) {
  Check(file->Append(data, rocksdb::IOOptions(), nullptr));
}

// Reads 4 KiB at random offsets of a file of kFileBytes.
class Reader {
 public:
  Reader(rocksdb::FileSystem* file_system, const std::string& path, uint64_t seed)
      : random_(seed), scratch_(kReadBytes, '\0') {
    Check(file_system->NewRandomAccessFile(path, rocksdb::FileOptions(), &file_, nullptr));
  }
  // Reads once.
  void Read() {
    rocksdb::Slice result;
    const uint64_t offset = random_() % (kFileBytes / kReadBytes) * kReadBytes;
    Check(file_->Read(offset, kReadBytes, rocksdb::IOOptions(), &result, scratch_.data(), nullptr));
  }

 private:
  std::mt19937_64 random_;
  std::string scratch_;
  std::unique_ptr<rocksdb::FSRandomAccessFile> file_;
};

// Appends 2 MiB at a time. Replaces the file whenever it has grown to kFileBytes.
class Writer {
 public:
  Writer(rocksdb::FileSystem* file_system, std::string path)
      : file_system_(file_system), path_(std::move(path)), data_(kWriteBytes, 'x') {}
  // Appends once.
  void Write() {
    if (appended_ % kFileBytes == 0) {
      file_ = NewFile(file_system_, path_);
    }
    Append(file_, data_);
    appended_ += kWriteBytes;
  }

 private:
  rocksdb::FileSystem* const file_system_;
  const std::string path_;
  const std::string data_;
  uint64_t appended_ = 0;
  FilePointer file_;
};

// Creates the file of kFileBytes that a Reader reads.
inline void CreateFileToRead(const std::string& path) {
  const FilePointer file = NewFile(rocksdb::FileSystem::Default().get(), path);
  const std::string data(kMebibyte, 'x');
  for (uint64_t bytes = 0; bytes < kFileBytes; bytes += data.size()) {
    Append(file, data);
  }
  Check(file->Close(rocksdb::IOOptions(), nullptr));
}

}  // namespace rocktune
