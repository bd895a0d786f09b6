// Compares RocksDB's own statistics of its I/O with the counters of the throttled file system below it.

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rocktune/device/throttled_file_system.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

class StoreOnDeviceTest : public testing::Test {
 protected:
  StoreOnDeviceTest() {
    options_.create_if_missing = true;
    options_.statistics = rocksdb::CreateDBStatistics();
    options_.compression = rocksdb::kNoCompression;
    options_.write_buffer_size = 256 << 10;
    options_.target_file_size_base = 256 << 10;
    options_.max_bytes_for_level_base = 1 << 20;
    options_.compaction_readahead_size = 0;
    options_.listeners.push_back(NewThreadRoleListener());
    rocksdb::BlockBasedTableOptions table;
    table.no_block_cache = true;
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    clock_.Start();
  }

  ~StoreOnDeviceTest() override {
    clock_.Close();
    database_.reset();
  }

  rocksdb::Status Open(const DeviceSpec& spec) { return Open(spec, memory_->GetFileSystem(), "/store"); }
  rocksdb::Status Open(const DeviceSpec& spec, std::shared_ptr<rocksdb::FileSystem> base,
                       const std::string& directory) {
    device_ = std::make_shared<ThrottledFileSystemImpl>(std::move(base), spec, &clock_);
    env_ = rocksdb::NewCompositeEnv(device_);
    options_.env = env_.get();
    return OpenDatabase(options_, directory, &database_);
  }

  // Puts `count` entries of about 1 KB, with keys drawn at random from `count` keys.
  rocksdb::Status Fill(int count) {
    const ScopedThreadRole role(ThreadRole::kUser);
    std::mt19937 random(5);
    rocksdb::Status status;
    for (int i = 0; i < count && status.ok(); ++i) {
      status = database_->Put(rocksdb::WriteOptions(), Key(static_cast<int>(random() % count)),
                              std::string(1000, static_cast<char>('a' + i % 26)));
    }
    return status;
  }

  static std::string Key(int number) {
    char key[17];
    std::snprintf(key, sizeof(key), "%016d", number);
    return key;
  }

  double DeviceBytes(IoCause cause) const {
    return static_cast<double>(device_->Counters().bytes[static_cast<std::size_t>(cause)]);
  }
  double Ticker(rocksdb::Tickers ticker) const {
    return static_cast<double>(options_.statistics->getTickerCount(ticker));
  }

  RunClock clock_;
  std::unique_ptr<rocksdb::Env> memory_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  std::shared_ptr<ThrottledFileSystemImpl> device_;
  std::unique_ptr<rocksdb::Env> env_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> database_;
};

TEST_F(StoreOnDeviceTest, CountersByCauseAgreeWithRocksDb) {
  ASSERT_TRUE(Open(DeviceSpec()).ok());
  ASSERT_TRUE(Fill(8000).ok());
  ASSERT_TRUE(database_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(database_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  {
    const ScopedThreadRole role(ThreadRole::kUser);
    std::string value;
    for (int i = 0; i < 1000; ++i) {
      const rocksdb::Status status = database_->Get(rocksdb::ReadOptions(), Key(i), &value);
      ASSERT_TRUE(status.ok() || status.IsNotFound());
    }
  }
  const auto near = [](double measured, double expected) {
    EXPECT_GT(expected, 1e6);
    EXPECT_NEAR(measured, expected, 0.03 * expected);
  };
  near(DeviceBytes(IoCause::kWal), Ticker(rocksdb::WAL_FILE_BYTES));
  near(DeviceBytes(IoCause::kFlush), Ticker(rocksdb::FLUSH_WRITE_BYTES));
  near(DeviceBytes(IoCause::kCompactionWrite), Ticker(rocksdb::COMPACT_WRITE_BYTES));
  near(DeviceBytes(IoCause::kCompactionRead), Ticker(rocksdb::COMPACT_READ_BYTES));
  // About 630 of the 1,000 keys exist. Each Get that finds its key reads a block of 4 KB.
  EXPECT_GT(DeviceBytes(IoCause::kUserRead), 600 * 4000.0);
  // The rest is RocksDB's check of new tables after the job: it reads 16 KB from the end of a table of 256
  // KB.
  EXPECT_LT(DeviceBytes(IoCause::kOther),
            0.1 * (DeviceBytes(IoCause::kFlush) + DeviceBytes(IoCause::kCompactionWrite)));
}

TEST_F(StoreOnDeviceTest, StopsAndContinuesWithTheClock) {
  ASSERT_TRUE(Open(DeviceSpec()).ok());
  std::atomic<int> filled{0};
  std::thread writer([&] {
    while (Fill(100).ok() && filled < 1000) {
      filled += 100;
    }
  });
  while (filled == 0) {
    std::this_thread::yield();
  }
  clock_.Stop();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // I/O in progress passes or begins to wait
  const DeviceCounters before = device_->Counters();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(device_->Counters().bytes, before.bytes);
  clock_.Start();
  writer.join();
  EXPECT_EQ(filled, 1000);
}

TEST_F(StoreOnDeviceTest, AClosedClockDoesNotDelayClosing) {
  DeviceSpec spec;
  spec.bandwidth_bytes_s = 1000;  // a put of 1 KB takes a second
  ASSERT_TRUE(Open(spec).ok());
  std::thread writer([this] { EXPECT_TRUE(Fill(1000).ok()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  clock_.Close();
  writer.join();
  EXPECT_TRUE(database_->Close().ok());
}

// RocksDB returns NoSpace, or an error with its text if the write waited for a flush that failed.
TEST_F(StoreOnDeviceTest, AFullDeviceFailsWritesWithAReason) {
  DeviceSpec spec;
  spec.capacity_bytes = 2 << 20;
  ASSERT_TRUE(Open(spec).ok());
  const rocksdb::Status status = Fill(8000);
  EXPECT_NE(status.ToString().find("No space left on device: the device's capacity_bytes of 2097152"),
            std::string::npos)
      << status.ToString();
  EXPECT_LE(device_->StoredBytes(), spec.capacity_bytes);
}

TEST_F(StoreOnDeviceTest, StoredBytesEqualTheSizesOfTheFiles) {
  ASSERT_TRUE(Open(DeviceSpec()).ok());
  ASSERT_TRUE(Fill(3000).ok());
  ASSERT_TRUE(database_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(database_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_TRUE(database_->Close().ok());
  std::vector<rocksdb::Env::FileAttributes> files;
  ASSERT_TRUE(memory_->GetChildrenFileAttributes("/store", &files).ok());
  uint64_t bytes = 0;
  for (const rocksdb::Env::FileAttributes& file : files) {
    if (file.name.ends_with(".sst") || file.name.ends_with(".log")) {
      bytes += file.size_bytes;
    }
  }
  EXPECT_EQ(device_->StoredBytes(), bytes);
}

// Uses the machine's file system, because the one in memory does not support memory maps.
TEST_F(StoreOnDeviceTest, MemoryMappedReadsAreRefused) {
  std::string pattern = testing::TempDir() + "/rocktune_XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  options_.allow_mmap_reads = true;
  rocksdb::Status status = Open(DeviceSpec(), rocksdb::FileSystem::Default(), pattern);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_TRUE(Fill(100).ok());
  status = database_->Flush(rocksdb::FlushOptions());
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("allow_mmap_reads=false"), std::string::npos);
  database_.reset();
  std::filesystem::remove_all(pattern);
}

}  // namespace
}  // namespace rocktune
