// What a governor finds out about its device.

#include "rocktune/governor/governed_device.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "rocktune/governor/fake_governed_db.h"
#include "rocktune/throttled_file_system.h"

namespace rocktune {
namespace {

constexpr uint64_t kDevice = 200'000'000;

class GovernedDeviceTest : public GovernedDbTest {
 protected:
  // The database must be closed before its Env is gone.
  ~GovernedDeviceTest() override {
    governor_.reset();
    db_.reset();
  }

  // Opens the database on a device of `bandwidth` and `capacity`, with a governor that has to find the
  // former.
  void OpenOnDevice(uint64_t bandwidth, uint64_t capacity) {
    DeviceSpec device;
    device.bandwidth_bytes_s = bandwidth;
    device.capacity_bytes = capacity;
    env_ = rocksdb::NewCompositeEnv(ThrottledFileSystem::Create(rocksdb::FileSystem::Default(), device));
    db_options_.env = env_.get();
    GovernorOptions options = Options(GovernorMode::kProportional);
    options.device_bytes_per_s = 0;
    options.max_flush_bytes_per_s = 0;
    options.device_read_bytes = [this] { return device_read_bytes_.load(); };
    Create(options);
    Open();
  }
  std::string Log() const {
    std::ifstream log(directory_ + "/LOG");
    return {std::istreambuf_iterator<char>(log), std::istreambuf_iterator<char>()};
  }

  std::atomic<uint64_t> device_read_bytes_{0};

 private:
  std::unique_ptr<rocksdb::Env> env_;
};

TEST_F(GovernedDeviceTest, AttachFindsTheBandwidthAndSaysSo) {
  OpenOnDevice(kDevice, 0);
  EXPECT_EQ(governor_->Counters().device_bytes_per_s, 0u);
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  const uint64_t found = governor_->Counters().device_bytes_per_s;
  EXPECT_GT(found, 0u);
  EXPECT_LE(found, kDevice * 21 / 20);
  EXPECT_NE(Log().find("found a device bandwidth of " + std::to_string(found)), std::string::npos);
  EXPECT_NE(governor_->PrometheusText().find("rocktune_governor_device_bytes_per_second "),
            std::string::npos);
  PassInterval();
  // Nothing else uses the device, so compactions get all of it.
  EXPECT_EQ(governor_->Counters().last.compaction_bytes_per_s, found);
}

TEST_F(GovernedDeviceTest, ASecondDatabaseIsNotProbed) {
  OpenOnDevice(kDevice, 0);
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  const uint64_t found = governor_->Counters().device_bytes_per_s;
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  EXPECT_EQ(governor_->Counters().device_bytes_per_s, found);
}

TEST_F(GovernedDeviceTest, AFullDeviceFailsAttachAndChangesNothing) {
  OpenOnDevice(0, 1000);
  EXPECT_TRUE(governor_->Attach(db_.get()).IsNoSpace());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/ROCKTUNE_GOVERNOR"));
}

TEST_F(GovernedDeviceTest, SyncedWritesRaiseAFoundBandwidthOnly) {
  Open();
  GovernorOptions options = Options(GovernorMode::kProportional);
  const auto limiter = std::make_shared<GovernedRateLimiter>(1000, clock_);
  GovernorSample sample;
  sample.seconds = 1;
  sample.flush_bytes = 3000;
  GovernorLimits limits{1000, 500, 0, 0, 0.02};
  GovernedDevice(options, limiter).RaiseBandwidth(db_.get(), sample, &limits);
  EXPECT_EQ(limits.device_bytes_per_s, 1000u) << "it was given";
  options.device_bytes_per_s = options.max_flush_bytes_per_s = 0;
  GovernedDevice(options, limiter).RaiseBandwidth(db_.get(), sample, &limits);
  EXPECT_EQ(limits.device_bytes_per_s, 3000u);
  EXPECT_EQ(limits.max_flush_bytes_per_s, 1500u);
  EXPECT_EQ(limiter->GetBytesPerSecond(), 3000);
  EXPECT_NE(Log().find("synced writes show a device bandwidth of 3000"), std::string::npos);
}

TEST_F(GovernedDeviceTest, PageCacheHitsAreNoDeviceReads) {
  GovernorOptions options = Options(GovernorMode::kProportional);
  options.device_read_bytes = [this] { return device_read_bytes_.load(); };
  device_read_bytes_ = 1;
  db_options_.compression = rocksdb::kNoCompression;
  Create(options);
  Open();
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  const auto read_all = [&] {
    rocksdb::ReadOptions uncached;
    uncached.fill_cache = false;
    for (int round = 0; round < 20; ++round) {
      const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(uncached));
      for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      }
    }
  };
  WriteAndFlush();
  PassInterval();
  read_all();  // 2 MB, of which the device gives 4 KiB
  device_read_bytes_ += 4096;
  PassInterval();
  EXPECT_LT(governor_->Counters().device_read_share, 0.01);
  EXPECT_LT(governor_->Counters().last.sample.user_read_bytes, 20'000u);
  read_all();
  device_read_bytes_ += 100'000'000;
  PassInterval();
  EXPECT_EQ(governor_->Counters().device_read_share, 1);
  EXPECT_GT(governor_->Counters().last.sample.user_read_bytes, 1'000'000u);
}

TEST_F(GovernedDeviceTest, AnUnknownNumberOfDeviceReadsCountsEveryRead) {
  const auto limiter = std::make_shared<GovernedRateLimiter>(1, clock_);
  GovernedDevice device(Options(GovernorMode::kProportional), limiter);
  limiter->SetDeviceReadShare(0.5);
  device.UpdateReadShare(100 << 20, 0, 0);
  EXPECT_EQ(limiter->DeviceReadShare(), 1);
}

TEST(ProcessReadBytesTest, NeverFalls) {
  const uint64_t before = ProcessReadBytes();
  EXPECT_GE(ProcessReadBytes(), before);
}

}  // namespace
}  // namespace rocktune
