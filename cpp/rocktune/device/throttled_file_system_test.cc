#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/device/throttled_file_system_fixture.h"

namespace rocktune {
namespace {

using rocksdb::FileOptions;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

constexpr RunClock::Nanos kMillisecond = 1000000;

TEST_F(ThrottledFileSystemTest, TellsTheCauseByFileAndThread) {
  Open(DeviceSpec());
  Write("1.log", 1);
  Write("1.sst", 10);
  {
    ScopedThreadRole role(ThreadRole::kFlush);
    Write("2.sst", 100);
    EXPECT_TRUE(Read("2.sst", 0, 20).ok());
  }
  {
    ScopedThreadRole role(ThreadRole::kCompaction);
    Write("3.blob", 1000);
    EXPECT_TRUE(Read("2.sst", 0, 30).ok());
  }
  {
    ScopedThreadRole role(ThreadRole::kUser);
    Write("2.log", 2);
    EXPECT_TRUE(Read("3.blob", 0, 40).ok());
    EXPECT_TRUE(Read("2.log", 0, 2).ok());
  }
  EXPECT_EQ(Bytes(IoCause::kWal), 3u);
  EXPECT_EQ(Bytes(IoCause::kFlush), 100u);
  EXPECT_EQ(Bytes(IoCause::kCompactionWrite), 1000u);
  EXPECT_EQ(Bytes(IoCause::kCompactionRead), 30u);
  EXPECT_EQ(Bytes(IoCause::kUserRead), 40u);
  EXPECT_EQ(Bytes(IoCause::kOther), 10u + 20u + 2u);
  EXPECT_EQ(Operations(IoCause::kUserRead), 1u);
}

TEST_F(ThrottledFileSystemTest, DoesNotThrottleOrCountMetadata) {
  DeviceSpec spec;
  spec.bandwidth_bytes_s = 1;
  spec.capacity_bytes = 1;
  Open(spec);
  clock_.Stop();
  for (const char* name : {"LOG", "LOG.old.1", "MANIFEST-000001", "CURRENT", "OPTIONS-000007", "IDENTITY"}) {
    Write(name, 100000);
    EXPECT_TRUE(Read(name, 0, 100000).ok());
  }
  EXPECT_EQ(AllBytes(), 0u);
  EXPECT_EQ(file_system_->StoredBytes(), 0u);
}

TEST_F(ThrottledFileSystemTest, CountsEveryKindOfWrite) {
  Open(DeviceSpec());
  const IOOptions options;
  const rocksdb::DataVerificationInfo verification;
  auto file = NewFile("1.log");
  EXPECT_TRUE(file->Append("1", options, nullptr).ok());
  EXPECT_TRUE(file->Append("22", options, verification, nullptr).ok());
  EXPECT_EQ(Bytes(IoCause::kWal), 3u);
  EXPECT_EQ(file->GetFileSize(options, nullptr), 3u);
  EXPECT_TRUE(file->Close(options, nullptr).ok());

  std::unique_ptr<rocksdb::FSRandomRWFile> both_ways;
  ASSERT_TRUE(file_system_->NewRandomRWFile("/1.log", FileOptions(), &both_ways, nullptr).ok());
  EXPECT_TRUE(both_ways->Write(0, "4444", options, nullptr).ok());
  EXPECT_EQ(Bytes(IoCause::kWal), 7u);
  char scratch[4];
  Slice result;
  EXPECT_TRUE(both_ways->Read(0, 4, options, &result, scratch, nullptr).ok());
  EXPECT_EQ(result.ToString(), "4444");
  EXPECT_EQ(Bytes(IoCause::kOther), 4u);
}

TEST_F(ThrottledFileSystemTest, CountsEveryKindOfRead) {
  Open(DeviceSpec());
  ScopedThreadRole role(ThreadRole::kUser);
  Write("1.sst", 1000);
  const uint64_t written = AllBytes();
  const IOOptions options;
  std::vector<char> scratch(1000);
  Slice result;

  const auto file = OpenFile("1.sst");
  EXPECT_TRUE(file->Read(990, 100, options, &result, scratch.data(), nullptr).ok());
  EXPECT_EQ(result.size(), 10u);
  EXPECT_EQ(Bytes(IoCause::kUserRead), 10u);  // the bytes read, not those requested

  rocksdb::FSReadRequest requests[2] = {};
  for (auto& request : requests) {
    request.len = 20;
    request.scratch = scratch.data();
  }
  EXPECT_TRUE(file->MultiRead(requests, 2, options, nullptr).ok());
  EXPECT_EQ(Bytes(IoCause::kUserRead), 50u);
  EXPECT_EQ(Operations(IoCause::kUserRead), 3u);

  // Asynchronous reads complete before the call returns.
  bool called = false;
  void* handle = nullptr;
  rocksdb::IOHandleDeleter deleter;
  EXPECT_TRUE(file->ReadAsync(
                      requests[0], options, [&called](const auto&, void*) { called = true; }, nullptr,
                      &handle, &deleter, nullptr)
                  .ok());
  EXPECT_TRUE(called);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(Bytes(IoCause::kUserRead), 70u);
  std::vector<void*> handles = {nullptr};
  EXPECT_TRUE(file_system_->Poll(handles, 1).ok());
  EXPECT_TRUE(file_system_->AbortIO(handles).ok());

  std::unique_ptr<rocksdb::FSSequentialFile> sequential;
  ASSERT_TRUE(file_system_->NewSequentialFile("/1.sst", FileOptions(), &sequential, nullptr).ok());
  EXPECT_TRUE(sequential->Skip(900).ok());
  EXPECT_TRUE(sequential->Read(200, options, &result, scratch.data(), nullptr).ok());
  EXPECT_EQ(Bytes(IoCause::kUserRead), 170u);
  EXPECT_EQ(AllBytes(), written + 170u);
}

TEST_F(ThrottledFileSystemTest, RefusesPrefetchAndMemoryMaps) {
  Open(DeviceSpec());
  Write("1.sst", 10);
  EXPECT_TRUE(OpenFile("1.sst")->Prefetch(0, 10, IOOptions(), nullptr).IsNotSupported());
  int64_t features = -1;
  file_system_->SupportedOps(features);
  EXPECT_EQ(features, 0);

  FileOptions options;
  options.use_mmap_reads = true;
  std::unique_ptr<rocksdb::FSRandomAccessFile> file;
  const IOStatus status = file_system_->NewRandomAccessFile("/1.sst", options, &file, nullptr);
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("allow_mmap_reads=false"), std::string::npos);
}

TEST_F(ThrottledFileSystemTest, AppendsAreOneOperationPer256KiBOrSync) {
  Open(DeviceSpec());
  const IOOptions options;
  const auto file = NewFile("1.log");
  const auto append = [&](uint64_t bytes) { EXPECT_TRUE(Append(file, bytes).ok()); };
  append(100 << 10);
  append(100 << 10);
  EXPECT_EQ(Operations(IoCause::kWal), 0u);
  append(100 << 10);  // 300 KiB: one operation; 44 KiB remain
  EXPECT_EQ(Operations(IoCause::kWal), 1u);
  EXPECT_TRUE(file->Sync(options, nullptr).ok());
  EXPECT_EQ(Operations(IoCause::kWal), 2u);
  EXPECT_TRUE(file->Sync(options, nullptr).ok());  // no new bytes, hence no operation
  EXPECT_EQ(Operations(IoCause::kWal), 2u);
  append(1);
  EXPECT_TRUE(file->Fsync(options, nullptr).ok());
  append(1);
  EXPECT_TRUE(file->RangeSync(0, 1, options, nullptr).ok());
  EXPECT_EQ(Operations(IoCause::kWal), 4u);
  append(1 << 20);
  EXPECT_EQ(Operations(IoCause::kWal), 8u);
}

TEST_F(ThrottledFileSystemTest, AddsTheLatencies) {
  DeviceSpec spec;
  spec.read_latency_us = 5000;
  spec.write_latency_us = 7000;
  spec.sync_latency_us = 20000;
  Open(spec);
  const auto file = NewFile("1.sst");
  EXPECT_TRUE(Append(file, 10).ok());
  EXPECT_TRUE(file->Sync(IOOptions(), nullptr).ok());
  const RunClock::Nanos written = clock_.Now();
  EXPECT_GE(written, 27 * kMillisecond);
  EXPECT_TRUE(file->Sync(IOOptions(), nullptr).ok());
  const RunClock::Nanos synced = clock_.Now();
  EXPECT_GE(synced - written, 20 * kMillisecond);
  EXPECT_TRUE(Read("1.sst", 0, 10).ok());
  EXPECT_GE(clock_.Now() - synced, 5 * kMillisecond);
}

TEST_F(ThrottledFileSystemTest, AppliesTheBandwidth) {
  DeviceSpec spec;
  spec.bandwidth_bytes_s = 10000000;
  Open(spec);
  Write("1.sst", 500000);
  EXPECT_TRUE(Read("1.sst", 0, 500000).ok());
  EXPECT_GE(clock_.Now(), 90 * kMillisecond);
}

TEST_F(ThrottledFileSystemTest, WaitsForAStoppedClockUnlessUnthrottled) {
  Open(DeviceSpec());
  Write("1.sst", 10);
  clock_.Stop();
  std::thread reader([this] { EXPECT_TRUE(Read("1.sst", 0, 10).ok()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(AllBytes(), 10u);

  file_system_->SetThrottled(false);
  Write("2.sst", 10);
  EXPECT_EQ(AllBytes(), 20u);
  clock_.Start();
  reader.join();
  EXPECT_EQ(AllBytes(), 30u);
}

}  // namespace
}  // namespace rocktune
