#pragma once

#include <rocksdb/file_system.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace rocktune {

// The files and buffers of MeasureDevice.

inline constexpr std::size_t kPageBytes = 4 << 10;  // a small request, and the alignment of direct I/O

struct alignas(kPageBytes) Page {
  std::array<char, kPageBytes> bytes;
};
// Memory that direct I/O can use.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : pages_(bytes / kPageBytes) {}
  char* data() { return pages_.front().bytes.data(); }
  std::size_t size() const { return pages_.size() * kPageBytes; }
  rocksdb::Slice slice() const { return {pages_.front().bytes.data(), size()}; }
  // Fills the buffer with bytes that no device can compress.
  void Randomize() {
    std::mt19937_64 random(1);
    for (Page& page : pages_) {
      std::generate(page.bytes.begin(), page.bytes.end(), [&random] { return static_cast<char>(random()); });
    }
  }

 private:
  std::vector<Page> pages_;
};

// Returns options of files that the operating system does not cache.
inline rocksdb::FileOptions DirectOptions() {
  rocksdb::FileOptions options;
  options.use_direct_reads = true;
  options.use_direct_writes = true;
  return options;
}

// A file to append to. It is preallocated as RocksDB does. All functions but Open need an open file.
class AppendedFile {
 public:
  rocksdb::IOStatus Open(rocksdb::FileSystem* file_system, const std::string& path,
                         const rocksdb::FileOptions& options) {
    rocksdb::IOStatus status = file_system->NewWritableFile(path, options, &file_, nullptr);
    if (status.ok()) {
      file_->SetPreallocationBlockSize(kPreallocatedBytes);
    }
    return status;
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data) {
    file_->PrepareWrite(bytes_, data.size(), rocksdb::IOOptions(), nullptr);
    rocksdb::IOStatus status = file_->Append(data, rocksdb::IOOptions(), nullptr);
    if (status.ok()) {
      bytes_ += data.size();
    }
    return status;
  }
  // Passes the last `bytes` to the device, without waiting for its cache.
  rocksdb::IOStatus Flush(uint64_t bytes) {
    return file_->RangeSync(bytes_ - bytes, bytes, rocksdb::IOOptions(), nullptr);
  }
  rocksdb::IOStatus Sync() { return file_->Sync(rocksdb::IOOptions(), nullptr); }
  rocksdb::IOStatus Close() { return file_->Close(rocksdb::IOOptions(), nullptr); }
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kPreallocatedBytes = 4 << 20;

  std::unique_ptr<rocksdb::FSWritableFile> file_;
  uint64_t bytes_ = 0;
};

}  // namespace rocktune
