#include "rocktune/device/throttled_file_system.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace rocktune {
namespace {

using rocksdb::FileOptions;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

constexpr RunClock::Nanos kMillisecond = 1000000;

// Its files' operations fail while `failing` is set, and succeed without effect otherwise.
class FaultyFile : public rocksdb::FSWritableFile {
 public:
  explicit FaultyFile(const bool* failing) : failing_(failing) {}
  IOStatus Append(const Slice&, const IOOptions&, rocksdb::IODebugContext*) override { return Result(); }
  using FSWritableFile::Append;
  IOStatus PositionedAppend(const Slice&, uint64_t, const IOOptions&, rocksdb::IODebugContext*) override {
    return Result();
  }
  IOStatus PositionedAppend(const Slice&, uint64_t, const IOOptions&, const rocksdb::DataVerificationInfo&,
                            rocksdb::IODebugContext*) override {
    return Result();
  }
  IOStatus Truncate(uint64_t, const IOOptions&, rocksdb::IODebugContext*) override { return Result(); }
  IOStatus Allocate(uint64_t, uint64_t, const IOOptions&, rocksdb::IODebugContext*) override {
    return Result();
  }
  IOStatus RangeSync(uint64_t, uint64_t, const IOOptions&, rocksdb::IODebugContext*) override {
    return Result();
  }
  IOStatus Flush(const IOOptions&, rocksdb::IODebugContext*) override { return Result(); }
  IOStatus Sync(const IOOptions&, rocksdb::IODebugContext*) override { return Result(); }
  IOStatus Fsync(const IOOptions&, rocksdb::IODebugContext*) override { return Result(); }
  IOStatus Close(const IOOptions&, rocksdb::IODebugContext*) override { return Result(); }
  uint64_t GetFileSize(const IOOptions&, rocksdb::IODebugContext*) override { return 0; }

 private:
  IOStatus Result() const { return *failing_ ? IOStatus::IOError("broken") : IOStatus::OK(); }

  const bool* const failing_;
};

class FaultyFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit FaultyFileSystem(const bool* failing)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), failing_(failing) {}
  const char* Name() const override { return "FaultyFileSystem"; }
  IOStatus NewWritableFile(const std::string&, const FileOptions&,
                           std::unique_ptr<rocksdb::FSWritableFile>* result,
                           rocksdb::IODebugContext*) override {
    *result = std::make_unique<FaultyFile>(failing_);
    return IOStatus::OK();
  }

 private:
  const bool* const failing_;
};

// A file system in memory under a throttled one.
class ThrottledFileSystemTest : public testing::Test {
 protected:
  void Open(const DeviceSpec& spec) {
    file_system_ = std::make_unique<ThrottledFileSystemImpl>(env_->GetFileSystem(), spec, &clock_);
    clock_.Start();
  }

  std::unique_ptr<rocksdb::FSWritableFile> NewFile(const std::string& name) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(file_system_->NewWritableFile("/" + name, FileOptions(), &file, nullptr).ok());
    return file;
  }
  std::unique_ptr<rocksdb::FSRandomAccessFile> OpenFile(const std::string& name) {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    EXPECT_TRUE(file_system_->NewRandomAccessFile("/" + name, FileOptions(), &file, nullptr).ok());
    return file;
  }
  static IOStatus Append(const std::unique_ptr<rocksdb::FSWritableFile>& file, uint64_t bytes) {
    return file->Append(std::string(bytes, 'x'), IOOptions(), nullptr);
  }
  void Write(const std::string& name, uint64_t bytes) {
    const auto file = NewFile(name);
    EXPECT_TRUE(Append(file, bytes).ok());
    EXPECT_TRUE(file->Close(IOOptions(), nullptr).ok());
  }
  IOStatus Read(const std::string& name, uint64_t offset, std::size_t bytes) {
    std::string scratch(bytes, '\0');
    Slice result;
    return OpenFile(name)->Read(offset, bytes, IOOptions(), &result, scratch.data(), nullptr);
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

TEST_F(ThrottledFileSystemTest, TellsTheCauseFromFileAndThread) {
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

TEST_F(ThrottledFileSystemTest, LogAndMetadataPassFreely) {
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

TEST_F(ThrottledFileSystemTest, EveryWayToWriteIsCounted) {
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

TEST_F(ThrottledFileSystemTest, EveryWayToReadIsCounted) {
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
  EXPECT_EQ(Bytes(IoCause::kUserRead), 10u);  // what was there, not what was asked for

  rocksdb::FSReadRequest requests[2] = {};
  for (auto& request : requests) {
    request.len = 20;
    request.scratch = scratch.data();
  }
  EXPECT_TRUE(file->MultiRead(requests, 2, options, nullptr).ok());
  EXPECT_EQ(Bytes(IoCause::kUserRead), 50u);
  EXPECT_EQ(Operations(IoCause::kUserRead), 3u);

  // Asynchronous reads are done when the call returns, and leave nothing to wait for.
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

TEST_F(ThrottledFileSystemTest, DoesNotPrefetchAndRefusesMemoryMaps) {
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

TEST_F(ThrottledFileSystemTest, AppendsAreOneOperationPerQuarterMebibyteOrSync) {
  Open(DeviceSpec());
  const IOOptions options;
  const auto file = NewFile("1.log");
  const auto append = [&](uint64_t bytes) { EXPECT_TRUE(Append(file, bytes).ok()); };
  append(100 << 10);
  append(100 << 10);
  EXPECT_EQ(Operations(IoCause::kWal), 0u);
  append(100 << 10);  // 300 KiB: one operation, 44 KiB are left over
  EXPECT_EQ(Operations(IoCause::kWal), 1u);
  EXPECT_TRUE(file->Sync(options, nullptr).ok());
  EXPECT_EQ(Operations(IoCause::kWal), 2u);
  EXPECT_TRUE(file->Sync(options, nullptr).ok());  // nothing left to write
  EXPECT_EQ(Operations(IoCause::kWal), 2u);
  append(1);
  EXPECT_TRUE(file->Fsync(options, nullptr).ok());
  append(1);
  EXPECT_TRUE(file->RangeSync(0, 1, options, nullptr).ok());
  EXPECT_EQ(Operations(IoCause::kWal), 4u);
  append(1 << 20);
  EXPECT_EQ(Operations(IoCause::kWal), 8u);
}

TEST_F(ThrottledFileSystemTest, ReadsWritesAndSyncsTakeTheirLatency) {
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

TEST_F(ThrottledFileSystemTest, AMegabyteAtTenMegabytesASecondTakesATenthOfASecond) {
  DeviceSpec spec;
  spec.bandwidth_bytes_s = 10000000;
  Open(spec);
  Write("1.sst", 500000);
  EXPECT_TRUE(Read("1.sst", 0, 500000).ok());
  EXPECT_GE(clock_.Now(), 90 * kMillisecond);
}

TEST_F(ThrottledFileSystemTest, ADeviceThatIsFullRefusesUntilSomethingIsDeleted) {
  DeviceSpec spec;
  spec.capacity_bytes = 1000;
  Open(spec);
  Write("1.sst", 600);
  const auto file = NewFile("2.sst");
  EXPECT_TRUE(Append(file, 400).ok());
  const IOStatus status = Append(file, 1);
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  EXPECT_EQ(file->GetFileSize(IOOptions(), nullptr), 400u);
  EXPECT_EQ(file_system_->StoredBytes(), 1000u);
  EXPECT_EQ(AllBytes(), 1000u);

  EXPECT_TRUE(file_system_->DeleteFile("/1.sst", IOOptions(), nullptr).ok());
  EXPECT_EQ(file_system_->StoredBytes(), 400u);
  EXPECT_TRUE(Append(file, 600).ok());
  EXPECT_TRUE(file->Truncate(100, IOOptions(), nullptr).ok());
  EXPECT_EQ(file_system_->StoredBytes(), 100u);
}

TEST_F(ThrottledFileSystemTest, StoredBytesFollowFilesThroughRenamesAndReuse) {
  Open(DeviceSpec());
  const IOOptions options;
  Write("1.log", 100);
  EXPECT_TRUE(file_system_->RenameFile("/1.log", "/2.log", options, nullptr).ok());
  EXPECT_EQ(file_system_->StoredBytes(), 100u);

  std::unique_ptr<rocksdb::FSWritableFile> file;
  ASSERT_TRUE(file_system_->ReopenWritableFile("/2.log", FileOptions(), &file, nullptr).ok());
  EXPECT_TRUE(Append(file, 10).ok());
  EXPECT_EQ(file_system_->StoredBytes(), 110u);
  ASSERT_TRUE(file_system_->ReuseWritableFile("/3.log", "/2.log", FileOptions(), &file, nullptr).ok());
  EXPECT_TRUE(Append(file, 20).ok());
  EXPECT_EQ(file_system_->StoredBytes(), 110u);  // written over the old ones
  EXPECT_EQ(Bytes(IoCause::kWal), 130u);

  EXPECT_TRUE(file_system_->DeleteFile("/3.log", options, nullptr).ok());
  EXPECT_EQ(file_system_->StoredBytes(), 0u);
}

TEST_F(ThrottledFileSystemTest, ErrorsOfTheBaseArePassedOnAndCostNothing) {
  Open(DeviceSpec());
  const IOOptions options;
  std::unique_ptr<rocksdb::FSRandomAccessFile> random;
  std::unique_ptr<rocksdb::FSSequentialFile> sequential;
  EXPECT_FALSE(file_system_->NewRandomAccessFile("/no.sst", FileOptions(), &random, nullptr).ok());
  EXPECT_FALSE(file_system_->NewSequentialFile("/no.sst", FileOptions(), &sequential, nullptr).ok());
  EXPECT_FALSE(file_system_->DeleteFile("/no.sst", options, nullptr).ok());
  EXPECT_FALSE(file_system_->RenameFile("/no.sst", "/1.sst", options, nullptr).ok());
  EXPECT_FALSE(file_system_->LinkFile("/no.sst", "/1.sst", options, nullptr).ok());
  EXPECT_EQ(AllBytes(), 0u);
}

TEST_F(ThrottledFileSystemTest, AWriteThatFailsIsNeitherCountedNorStored) {
  bool failing = false;
  file_system_ = std::make_unique<ThrottledFileSystemImpl>(std::make_shared<FaultyFileSystem>(&failing),
                                                           DeviceSpec(), &clock_);
  clock_.Start();
  const IOOptions options;
  const rocksdb::DataVerificationInfo verification;
  const auto file = NewFile("1.sst");
  const auto do_all = [&] {
    return std::vector<IOStatus>{file->Append("1", options, nullptr),
                                 file->Append("22", options, verification, nullptr),
                                 file->PositionedAppend("333", 3, options, nullptr),
                                 file->PositionedAppend("4444", 6, options, verification, nullptr),
                                 file->Sync(options, nullptr),
                                 file->Fsync(options, nullptr),
                                 file->RangeSync(0, 1, options, nullptr),
                                 file->Allocate(0, 1, options, nullptr),
                                 file->Flush(options, nullptr),
                                 file->Truncate(5, options, nullptr),
                                 file->Close(options, nullptr)};
  };
  for (const IOStatus& status : do_all()) {
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  EXPECT_EQ(Bytes(IoCause::kOther), 10u);
  EXPECT_EQ(Operations(IoCause::kOther), 1u);
  EXPECT_EQ(file_system_->StoredBytes(), 5u);

  failing = true;
  for (const IOStatus& status : do_all()) {
    EXPECT_TRUE(status.IsIOError());
  }
  EXPECT_EQ(Bytes(IoCause::kOther), 10u);
  EXPECT_EQ(Operations(IoCause::kOther), 1u);
  EXPECT_EQ(file_system_->StoredBytes(), 5u);
}

TEST_F(ThrottledFileSystemTest, StandsStillWithTheClockUnlessUnthrottled) {
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
