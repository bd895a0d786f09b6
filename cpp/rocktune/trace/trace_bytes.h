#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rocktune {

// Reads a file from its beginning to its end with a buffer of fixed size. Not thread-safe.
// Failure: throws std::invalid_argument, with the file and the system's reason, if the file cannot be read.
class TraceBytes {
 public:
  explicit TraceBytes(const std::string& path);
  ~TraceBytes();
  TraceBytes(const TraceBytes&) = delete;
  TraceBytes& operator=(const TraceBytes&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  // Returns the number of bytes that have been read.
  uint64_t position() const { return offset_ - (filled_ - used_); }
  void Restart();

  // Reads up to `bytes` bytes into `*data`; fewer at the file's end.
  void Read(std::size_t bytes, std::string* data);
  // How ReadLine ended.
  enum class Line { kComplete, kOverlong, kBinary, kEnd };
  // Reads a line without its line feed, and without a carriage return before it. Returns kOverlong if it has
  // more than kMaxLineBytes, having skipped it; kBinary at a NUL, behind which a text file holds no text;
  // kEnd at the file's end.
  Line ReadLine(std::string* line);
  static constexpr std::size_t kMaxLineBytes = 64 << 10;

 private:
  // Fills the buffer and returns false at the file's end.
  bool Fill();

  const std::string path_;
  const int descriptor_;
  uint64_t size_ = 0;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
  uint64_t offset_ = 0;  // of the file, behind the buffer
};

}  // namespace rocktune
