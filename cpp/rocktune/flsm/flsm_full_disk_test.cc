// A full disk fails only writes of an FLSM store, and with room on the disk the store goes on.
// ROCKTUNE_FULL_DISKS sets how often the disk fills up.

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "rocktune/flsm/fake_flsm_store.h"
#include "rocktune/util/fake_failing_disk.h"

namespace rocktune {
namespace {

int FullDisks() {
  const char* disks = std::getenv("ROCKTUNE_FULL_DISKS");
  return disks == nullptr ? 2 : std::stoi(disks);
}

class FlsmFullDiskTest : public FlsmStoreTest {
 protected:
  static constexpr uint32_t kKeys = 4000;

  ~FlsmFullDiskTest() override { store_.reset(); }  // before its Env

  void OpenOnDisk(FlsmGranularity granularity) {
    rocksdb::Options options = SmallOptions();
    options.env = env_.get();
    FlsmOptions layout = Layout({4, 2, 1});
    layout.granularity = granularity;
    store_.reset();
    const rocksdb::Status status = FlsmStore::Open(options, layout, directory_, &store_);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  // Writes a random entry.
  rocksdb::Status PutOne() {
    key_ = "key" + std::to_string(random_() % kKeys);
    const std::string value = std::to_string(++puts_) + std::string(500, 'v');
    rocksdb::Status status = store_->Put(rocksdb::WriteOptions(), key_, value);
    if (status.ok()) {
      model_[key_] = value;
    }
    return status;
  }
  uint64_t MemtableEntries() {
    uint64_t entries = 0;
    EXPECT_TRUE(store_->GetIntProperty(rocksdb::DB::Properties::kNumEntriesActiveMemTable, &entries));
    return entries;
  }
  // Fills the disk at a random moment, and writes until writes fail.
  void FillDisk() {
    for (uint32_t left = random_() % 1500; left > 0; --left) {
      const rocksdb::Status status = PutOne();
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
    // If the memtable is empty when a write fails, RocksDB 7.8 resumes with the WAL whose write failed
    // (docs/design/rocksdb-faults.md).
    while (MemtableEntries() < 5 || MemtableEntries() > 50) {
      ASSERT_TRUE(PutOne().ok());
    }
    disk_->fails = true;
    rocksdb::Status status;
    for (int tries = 0; tries < 2000 && status.ok(); ++tries) {
      status = PutOne();
    }
    EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
    ExpectEntries();
  }
  // Frees the disk. RocksDB recovers by itself after a while, or in Resume.
  void FreeDisk() {
    disk_->fails = false;
    rocksdb::Status status = store_->Resume();
    for (int tries = 0; tries < 1000 && !status.ok(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      status = store_->Resume();
    }
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  void ExpectEntries() {
    std::string value;
    for (const auto& [key, expected] : model_) {
      ASSERT_TRUE(store_->Get(rocksdb::ReadOptions(), key, &value).ok()) << key;
      // A write that failed may have been recorded all the same.
      ASSERT_TRUE(value == expected || (disk_->fails && key == key_)) << key;
    }
  }

  const std::shared_ptr<FailingFileSystem> disk_ =
      std::make_shared<FailingFileSystem>(rocksdb::IOStatus::NoSpace("the disk is full"));
  const std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(disk_);
  std::mt19937 random_{1};
  std::map<std::string, std::string> model_;
  std::string key_;  // of the latest write
  uint64_t puts_ = 0;
};

TEST_F(FlsmFullDiskTest, FailsOnlyWrites) {
  OpenOnDisk(FlsmGranularity::kLevels);
  for (int disk = 0; disk < FullDisks() && !HasFatalFailure(); ++disk) {
    FillDisk();
    FreeDisk();
    // The write that failed, and more than a memtable.
    ASSERT_TRUE(store_->Put(rocksdb::WriteOptions(), key_, model_[key_] = "again").ok());
    for (int left = 0; left < 500; ++left) {
      ASSERT_TRUE(PutOne().ok());
    }
    ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
    while (!store_->WaitUntilSettled().ok()) {  // a compaction may have been failing at the time of Resume
    }
    EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
    ExpectShapeMatchesRocksDb();
    ExpectEntries();
    if (disk % 5 == 1) {
      OpenOnDisk(disk % 2 == 0 ? FlsmGranularity::kLevels : FlsmGranularity::kFiles);
    }
  }
}

}  // namespace
}  // namespace rocktune
