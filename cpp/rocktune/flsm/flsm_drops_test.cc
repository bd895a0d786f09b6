// Column families of an FLSM store are dropped while they are written, flushed and compacted.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>

#include "rocktune/flsm/fake_flsm_families.h"

namespace rocktune {
namespace {

class FlsmDropsTest : public FlsmFamiliesTest {
 protected:
  // Creates a family with K = 1.
  rocksdb::ColumnFamilyHandle* Create(const rocksdb::Options& options) {
    rocksdb::ColumnFamilyHandle* family = nullptr;
    const rocksdb::Status status = store_->CreateColumnFamily(options, "dropped", Layout({1}), &family);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return family;
  }
  void Drop(rocksdb::ColumnFamilyHandle* family) {
    const rocksdb::Status status = store_->DropColumnFamily(family);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  void ExpectServes() {
    const rocksdb::Status status = store_->Put(rocksdb::WriteOptions(), "key", "value");
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(store_->WaitUntilSettled().ok());
    EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
  }
};

// RocksDB moves tables that overlap nothing, such as those of ascending keys.
TEST_F(FlsmDropsTest, ADropDuringMovesLeavesTheStoreWritable) {
  OpenThree();
  std::mt19937 random(1);
  for (int number = 0; number < 200 && !HasFatalFailure(); ++number) {
    rocksdb::ColumnFamilyHandle* family = Create(SmallOptions());
    for (int left = 70 + static_cast<int>(random() % 80), key = 0; key < left; ++key) {
      ASSERT_TRUE(
          store_->Put(rocksdb::WriteOptions(), family, std::to_string(10'000 + key), std::string(900, 'v'))
              .ok());
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));  // to meet any point of a move
    Drop(family);
    ASSERT_TRUE(store_->DestroyColumnFamilyHandle(family).ok());
    ExpectServes();
  }
}

// A write that is stopped waits for a compaction of the family, and the drop for the write.
TEST_F(FlsmDropsTest, ADropEndsWhileWritesAreStopped) {
  OpenThree();
  rocksdb::Options options = SmallOptions();
  options.level0_file_num_compaction_trigger = 1;
  options.level0_slowdown_writes_trigger = 3;
  options.level0_stop_writes_trigger = 3;
  std::mt19937 random(1);
  for (int number = 0; number < 20 && !HasFatalFailure(); ++number) {
    rocksdb::ColumnFamilyHandle* family = Create(options);
    std::atomic<bool> ends{false};
    std::thread writer([&] {
      rocksdb::WriteOptions write;
      // Or RocksDB refuses all writes after one to a dropped family.
      write.ignore_missing_column_families = true;
      for (int key = 0; !ends; ++key) {
        ASSERT_TRUE(store_->Put(write, family, std::to_string(key * 7 % 1000), std::string(5000, 'v')).ok());
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 30));
    Drop(family);
    ends = true;
    writer.join();
    ASSERT_TRUE(store_->DestroyColumnFamilyHandle(family).ok());
    ExpectServes();
  }
}

}  // namespace
}  // namespace rocktune
