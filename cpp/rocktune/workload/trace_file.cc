#include "rocktune/workload/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace rocktune {
namespace {

// The first and the last bytes of a file. The last character is the format's version.
constexpr std::string_view kMagic = "rtktrac1";
constexpr std::size_t kWordsPerOperation = 3;
constexpr std::size_t kOperationBytes = kWordsPerOperation * sizeof(uint64_t);
constexpr std::size_t kBlockOperations = 2048;
constexpr uint64_t kMaxSummaryBytes = 16 << 20;
constexpr int kTimeBits = 48;
constexpr int kFamilyBits = 12;
constexpr int kSizeBits = 32;

constexpr uint64_t Low(uint64_t word, int bits) { return word & ((uint64_t{1} << bits) - 1); }

std::array<uint64_t, kWordsPerOperation> Packed(const TraceOperation& operation) {
  return {operation.time_us | uint64_t{operation.family} << kTimeBits |
              static_cast<uint64_t>(operation.kind) << (kTimeBits + kFamilyBits),
          operation.key,
          operation.kind == OperationKind::kDeleteRange
              ? operation.range_keys
              : operation.value_bytes | uint64_t{operation.scan_length} << kSizeBits};
}

TraceOperation Unpacked(const uint64_t* words) {
  TraceOperation operation;
  operation.time_us = Low(words[0], kTimeBits);
  operation.family = static_cast<uint32_t>(Low(words[0] >> kTimeBits, kFamilyBits));
  operation.kind = static_cast<OperationKind>(words[0] >> (kTimeBits + kFamilyBits));
  operation.key = words[1];
  if (operation.kind == OperationKind::kDeleteRange) {
    operation.range_keys = words[2];
    return operation;
  }
  operation.value_bytes = static_cast<uint32_t>(Low(words[2], kSizeBits));
  operation.scan_length = static_cast<uint32_t>(words[2] >> kSizeBits);
  return operation;
}

bool IsPossible(const TraceOperation& operation, const TraceSummary& summary) {
  if (static_cast<std::size_t>(operation.kind) >= kOperationKindCount ||
      operation.family >= summary.families.size()) {
    return false;
  }
  const uint64_t keys = summary.families[operation.family].keys;
  if (operation.kind == OperationKind::kDeleteRange) {
    return operation.key <= keys && operation.range_keys <= keys - operation.key;
  }
  return operation.key < keys && operation.value_bytes <= kMaxTraceValueBytes;
}

uint64_t KeysBytes(const TraceSummary& summary) {
  uint64_t bytes = 0;
  for (const TraceFamily& family : summary.families) {
    bytes += WordsOf(family.keys) * sizeof(uint64_t);
    bytes += family.stored ? family.keys * sizeof(uint32_t) : 0;
  }
  return bytes;
}

}  // namespace

std::string SamplePath(const std::string& path, uint64_t scale) {
  return scale == 1 ? path : path + ".s" + std::to_string(scale);
}

TraceFileWriter::TraceFileWriter(const std::string& path)
    : path_(path),
      partial_path_(path + "." + std::to_string(getpid()) + ".partial"),
      file_(std::fopen(partial_path_.c_str(), "wb")) {
  if (file_ == nullptr) {
    throw std::runtime_error(path_ + ": cannot be written: " + std::strerror(errno));
  }
  Write(kMagic.data(), kMagic.size());
}

TraceFileWriter::~TraceFileWriter() {
  if (file_ != nullptr) {
    std::fclose(file_);
    std::remove(partial_path_.c_str());
  }
}

void TraceFileWriter::Write(const void* data, std::size_t bytes) {
  if (std::fwrite(data, 1, bytes, file_) != bytes) {
    throw std::runtime_error(path_ + ": cannot be written: " + std::strerror(errno));
  }
}

void TraceFileWriter::Add(const TraceOperation& operation) {
  const std::array<uint64_t, kWordsPerOperation> words = Packed(operation);
  Write(words.data(), kOperationBytes);
}

void TraceFileWriter::AddStoredSizes(const std::vector<uint32_t>& bytes) {
  Write(bytes.data(), bytes.size() * sizeof(uint32_t));
}

void TraceFileWriter::Finish(const TraceSummary& summary, const std::vector<KeyBits>& present) {
  for (const KeyBits& bits : present) {
    Write(bits.data(), bits.size() * sizeof(uint64_t));
  }
  const std::string text = ToJson(summary).dump();
  const uint64_t bytes = text.size();
  Write(text.data(), text.size());
  Write(&bytes, sizeof(bytes));
  Write(kMagic.data(), kMagic.size());
  std::FILE* const file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0 || std::rename(partial_path_.c_str(), path_.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(partial_path_.c_str());
    throw std::runtime_error(path_ + ": cannot be written: " + reason);
  }
}

TraceFile::TraceFile(const std::string& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) {
    throw std::invalid_argument(path_ + ": cannot be read: " + std::strerror(errno));
  }
  try {
    struct stat status {};
    fstat(descriptor_, &status);
    const uint64_t size = static_cast<uint64_t>(status.st_size);
    constexpr uint64_t kEndBytes = sizeof(uint64_t) + kMagic.size();
    uint64_t summary_bytes = 0;
    std::string text(kMagic.size(), '\0');
    if (size >= kMagic.size() + kEndBytes) {
      Read(text.data(), text.size(), size - kMagic.size());
      Read(&summary_bytes, sizeof(summary_bytes), size - kEndBytes);
    }
    if (text != kMagic || summary_bytes > std::min(kMaxSummaryBytes, size - kEndBytes - kMagic.size())) {
      throw std::invalid_argument(path_ + ": is not a complete file of operations; import the trace again");
    }
    text.resize(summary_bytes);
    Read(text.data(), text.size(), size - kEndBytes - summary_bytes);
    summary_ = TraceSummaryFromJson(nlohmann::json::parse(text));
    bool possible =
        summary_.operations <= size / kOperationBytes && summary_.families.size() <= kMaxTraceFamilies;
    for (const TraceFamily& family : summary_.families) {
      possible = possible && family.keys <= size * 8;
    }
    if (!possible || kMagic.size() + summary_.operations * kOperationBytes + KeysBytes(summary_) +
                             summary_bytes + kEndBytes !=
                         size) {
      throw std::invalid_argument(path_ + ": its summary does not fit its size; import the trace again");
    }
  } catch (const nlohmann::json::exception& error) {
    close(descriptor_);
    throw std::invalid_argument(path_ + ": its summary is malformed; import the trace again");
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

TraceFile::~TraceFile() { close(descriptor_); }

void TraceFile::Read(void* data, std::size_t bytes, uint64_t offset) const {
  char* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = pread(descriptor_, to, bytes, static_cast<off_t>(offset));
    if (got <= 0) {
      throw std::invalid_argument(path_ +
                                  ": cannot be read: " + (got < 0 ? std::strerror(errno) : "it was cut"));
    }
    to += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

uint64_t TraceFile::SizesOffset(std::size_t family) const {
  uint64_t offset = kMagic.size() + summary_.operations * kOperationBytes;
  for (std::size_t before = 0; before < family; ++before) {
    const TraceFamily& earlier = summary_.families[before];
    offset += earlier.stored ? earlier.keys * sizeof(uint32_t) : 0;
  }
  return offset;
}

std::vector<uint32_t> TraceFile::StoredSizes(std::size_t family, uint64_t first, uint64_t count) const {
  std::vector<uint32_t> bytes(static_cast<std::size_t>(count));
  Read(bytes.data(), bytes.size() * sizeof(uint32_t), SizesOffset(family) + first * sizeof(uint32_t));
  return bytes;
}

KeyBits TraceFile::PresentKeys(std::size_t family) const {
  uint64_t offset = SizesOffset(summary_.families.size());
  for (std::size_t before = 0; before < family; ++before) {
    offset += WordsOf(summary_.families[before].keys) * sizeof(uint64_t);
  }
  KeyBits bits(WordsOf(summary_.families[family].keys));
  Read(bits.data(), bits.size() * sizeof(uint64_t), offset);
  return bits;
}

TraceFile::Cursor::Cursor(const TraceFile& file) : file_(file) {}

void TraceFile::Cursor::Restart() {
  block_.clear();
  position_ = 0;
  read_ = 0;
}

bool TraceFile::Cursor::Next(TraceOperation* operation) {
  if (position_ == block_.size()) {
    const uint64_t left = file_.summary_.operations - read_;
    if (left == 0) {
      return false;
    }
    const std::size_t count = static_cast<std::size_t>(std::min<uint64_t>(left, kBlockOperations));
    block_.resize(count * kWordsPerOperation);
    file_.Read(block_.data(), count * kOperationBytes, kMagic.size() + read_ * kOperationBytes);
    read_ += count;
    position_ = 0;
  }
  *operation = Unpacked(&block_[position_]);
  position_ += kWordsPerOperation;
  if (!IsPossible(*operation, file_.summary_)) {
    throw std::invalid_argument(file_.path_ + ": an operation is malformed; import the trace again");
  }
  return true;
}

}  // namespace rocktune
