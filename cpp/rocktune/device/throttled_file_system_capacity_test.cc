// The capacity of a throttled file system, and operations that fail.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/device/throttled_file_system_fixture.h"

namespace rocktune {
namespace {

using rocksdb::FileOptions;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// A file whose operations fail while `*failing` is true, and otherwise succeed without effect.
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

// A file system whose writable files are FaultyFiles.
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

class ThrottledFileSystemCapacityTest : public ThrottledFileSystemTest {};

TEST_F(ThrottledFileSystemCapacityTest, AFullDeviceRefusesAppendsUntilAFileIsDeleted) {
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

TEST_F(ThrottledFileSystemCapacityTest, StoredBytesFollowRenamesAndReuse) {
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
  EXPECT_EQ(file_system_->StoredBytes(), 110u);  // the new bytes overwrite old ones
  EXPECT_EQ(Bytes(IoCause::kWal), 130u);

  EXPECT_TRUE(file_system_->DeleteFile("/3.log", options, nullptr).ok());
  EXPECT_EQ(file_system_->StoredBytes(), 0u);
}

TEST_F(ThrottledFileSystemCapacityTest, AReusedFileReturnsTheBytesThatItsCloseTruncates) {
  std::string directory = testing::TempDir() + "/rocktune-reuse-XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  for (const bool preallocated : {false, true}) {
    SCOPED_TRACE(preallocated);
    ThrottledFileSystemImpl files(rocksdb::FileSystem::Default(), DeviceSpec(), &clock_);
    clock_.Start();
    const std::string old_path = directory + "/1.log";
    const std::string path = directory + "/2.log";
    std::unique_ptr<rocksdb::FSWritableFile> file;
    ASSERT_TRUE(files.NewWritableFile(old_path, FileOptions(), &file, nullptr).ok());
    EXPECT_TRUE(Append(file, 10'000).ok());
    EXPECT_TRUE(file->Close(IOOptions(), nullptr).ok());
    ASSERT_TRUE(files.ReuseWritableFile(path, old_path, FileOptions(), &file, nullptr).ok());
    if (preallocated) {
      file->SetPreallocationBlockSize(4096);
      file->PrepareWrite(0, 100, IOOptions(), nullptr);
    }
    EXPECT_TRUE(Append(file, 100).ok());
    EXPECT_EQ(files.DataBytes(), 10'000u);
    EXPECT_TRUE(file->Close(IOOptions(), nullptr).ok());
    EXPECT_EQ(files.DataBytes(), std::filesystem::file_size(path));
    EXPECT_EQ(files.DataBytes(), preallocated ? 100u : 10'000u);
  }
  std::filesystem::remove_all(directory);
}

TEST_F(ThrottledFileSystemCapacityTest, ReturnsErrorsOfTheBaseWithoutCounting) {
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

TEST_F(ThrottledFileSystemCapacityTest, AFailedWriteIsNeitherCountedNorStored) {
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

}  // namespace
}  // namespace rocktune
