#include "rocktune/trace/trace_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace rocktune {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

}  // namespace

TraceBytes::TraceBytes(const std::string& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), buffer_(kBufferBytes) {
  if (descriptor_ < 0) {
    throw std::invalid_argument(path_ + ": cannot be read: " + std::strerror(errno));
  }
  struct stat status {};
  fstat(descriptor_, &status);
  if (!S_ISREG(status.st_mode)) {  // a trace is read twice, which a pipe does not allow
    close(descriptor_);
    throw std::invalid_argument(path_ + ": is not a file; name a file that holds a trace");
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

TraceBytes::~TraceBytes() { close(descriptor_); }

void TraceBytes::Restart() { used_ = filled_ = offset_ = 0; }

bool TraceBytes::Fill() {
  const ssize_t got = pread(descriptor_, buffer_.data(), buffer_.size(), static_cast<off_t>(offset_));
  if (got < 0) {
    throw std::invalid_argument(path_ + ": cannot be read: " + std::strerror(errno));
  }
  used_ = 0;
  filled_ = static_cast<std::size_t>(got);
  offset_ += filled_;
  return filled_ > 0;
}

void TraceBytes::Read(std::size_t bytes, std::string* data) {
  data->clear();
  while (data->size() < bytes && (used_ < filled_ || Fill())) {
    const std::size_t part = std::min(bytes - data->size(), filled_ - used_);
    data->append(&buffer_[used_], part);
    used_ += part;
  }
}

TraceBytes::Line TraceBytes::ReadLine(std::string* line) {
  line->clear();
  bool overlong = false;
  bool any = false;
  while (used_ < filled_ || Fill()) {
    any = true;
    const char* const begin = &buffer_[used_];
    const std::size_t left = filled_ - used_;
    const auto* feed = static_cast<const char*>(std::memchr(begin, '\n', left));
    const std::size_t bytes = feed == nullptr ? left : static_cast<std::size_t>(feed - begin);
    if (std::memchr(begin, '\0', bytes) != nullptr) {
      return Line::kBinary;
    }
    overlong = overlong || line->size() + bytes > kMaxLineBytes;
    if (!overlong) {
      line->append(begin, bytes);
    }
    used_ += bytes + (feed == nullptr ? 0 : 1);
    if (feed != nullptr) {
      break;
    }
  }
  if (!line->empty() && line->back() == '\r') {
    line->pop_back();
  }
  return overlong ? Line::kOverlong : any ? Line::kComplete : Line::kEnd;
}

}  // namespace rocktune
