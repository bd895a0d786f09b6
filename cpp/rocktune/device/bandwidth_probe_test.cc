#include "rocktune/device/bandwidth_probe.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "rocktune/throttled_file_system.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

class BandwidthProbeTest : public testing::Test {
 protected:
  ~BandwidthProbeTest() override { std::filesystem::remove_all(directory_); }

  static std::string NewDirectory() {
    std::string pattern = testing::TempDir() + "probe-XXXXXX";
    return mkdtemp(pattern.data());
  }
  std::string File() const { return directory_ + "/" + kProbeFile; }

  const std::string directory_ = NewDirectory();
};

TEST_F(BandwidthProbeTest, FindsNoMoreThanTheDeviceGives) {
  DeviceSpec device;
  device.bandwidth_bytes_s = 200'000'000;
  const auto files = ThrottledFileSystem::Create(rocksdb::FileSystem::Default(), device);
  uint64_t found = 0;
  ASSERT_TRUE(ProbeBandwidth(files.get(), directory_, &found).ok());
  EXPECT_LE(found, 210'000'000u) << "10 ms of credit are a thirtieth of the bytes";
  EXPECT_GT(found, 0u);
  const uint64_t written = files->Counters().bytes[static_cast<std::size_t>(IoCause::kOther)];
  EXPECT_GE(written, uint64_t{1} << 20);
  EXPECT_LE(written, kMaxProbeBytes);
  EXPECT_FALSE(std::filesystem::exists(File()));
}

TEST_F(BandwidthProbeTest, AFullDeviceIsReported) {
  DeviceSpec device;
  device.capacity_bytes = 1000;
  const auto files = ThrottledFileSystem::Create(rocksdb::FileSystem::Default(), device);
  uint64_t found = 0;
  EXPECT_TRUE(ProbeBandwidth(files.get(), directory_, &found).IsNoSpace());
  EXPECT_FALSE(std::filesystem::exists(File()));
}

TEST_F(BandwidthProbeTest, RocksDbDeletesWhatAKillLeaves) {
  rocksdb::Options options;
  options.create_if_missing = true;
  std::unique_ptr<rocksdb::DB> db;
  ASSERT_TRUE(OpenDatabase(options, directory_, &db).ok());
  ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "key", "value").ok());
  db.reset();
  std::ofstream(File()) << "left";
  ASSERT_TRUE(OpenDatabase(options, directory_, &db).ok());
  EXPECT_FALSE(std::filesystem::exists(File()));
  std::string value;
  EXPECT_TRUE(db->Get(rocksdb::ReadOptions(), "key", &value).ok());
}

}  // namespace
}  // namespace rocktune
