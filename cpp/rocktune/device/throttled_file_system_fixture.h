#pragma once

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "rocktune/device/throttled_file_system.h"

namespace rocktune {

// A fixture with a throttled file system in front of one in memory, and a clock.
class ThrottledFileSystemTest : public testing::Test {
 protected:
  // Creates the throttled file system and starts the clock.
  void Open(const DeviceSpec& spec) {
    file_system_ = std::make_unique<ThrottledFileSystemImpl>(env_->GetFileSystem(), spec, &clock_);
    clock_.Start();
  }

  // Paths are "/" and the name.
  std::unique_ptr<rocksdb::FSWritableFile> NewFile(const std::string& name) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(file_system_->NewWritableFile("/" + name, rocksdb::FileOptions(), &file, nullptr).ok());
    return file;
  }
  std::unique_ptr<rocksdb::FSRandomAccessFile> OpenFile(const std::string& name) {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    EXPECT_TRUE(file_system_->NewRandomAccessFile("/" + name, rocksdb::FileOptions(), &file, nullptr).ok());
    return file;
  }
  static rocksdb::IOStatus Append(const std::unique_ptr<rocksdb::FSWritableFile>& file, uint64_t bytes) {
    return file->Append(std::string(bytes, 'x'), rocksdb::IOOptions(), nullptr);
  }
  void Write(const std::string& name, uint64_t bytes) {
    const auto file = NewFile(name);
    EXPECT_TRUE(Append(file, bytes).ok());
    EXPECT_TRUE(file->Close(rocksdb::IOOptions(), nullptr).ok());
  }
  rocksdb::IOStatus Read(const std::string& name, uint64_t offset, std::size_t bytes) {
    std::string scratch(bytes, '\0');
    rocksdb::Slice result;
    return OpenFile(name)->Read(offset, bytes, rocksdb::IOOptions(), &result, scratch.data(), nullptr);
  }

  uint64_t Bytes(IoCause cause) const {
    return file_system_->Counters().bytes[static_cast<std::size_t>(cause)];
  }
  uint64_t Operations(IoCause cause) const {
    return file_system_->Counters().operations[static_cast<std::size_t>(cause)];
  }
  uint64_t AllBytes() const {
    uint64_t sum = 0;
    for (const uint64_t bytes : file_system_->Counters().bytes) {
      sum += bytes;
    }
    return sum;
  }

  RunClock clock_;
  std::unique_ptr<rocksdb::Env> env_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  std::unique_ptr<ThrottledFileSystemImpl> file_system_;
};

}  // namespace rocktune
