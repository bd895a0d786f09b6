#include "rocktune/util/manifest_guard.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/util/fake_failing_disk.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// A database without automatic compactions, on a disk that can refuse writes of the MANIFEST.
class ManifestGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "manifest-guard-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    Open();
  }
  void TearDown() override {
    db_.reset();
    EXPECT_TRUE(rocksdb::DestroyDB(directory_, rocksdb::Options()).ok());
  }

  void Open() {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.paranoid_checks = false;  // with them RocksDB would turn read-only after the error
    options.env = env_.get();
    options.listeners.push_back(guard_);
    ASSERT_TRUE(OpenDatabase(options, directory_, &db_).ok());
  }

  void AddTable() {
    ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "key" + std::to_string(keys_++), "value").ok());
    ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "in every table", std::to_string(keys_)).ok());
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }

  rocksdb::Status CompactAll() {
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    std::vector<std::string> names;
    names.reserve(files.size());
    for (const rocksdb::LiveFileMetaData& file : files) {
      names.push_back(file.name);
    }
    return guard_->CompactFiles(db_.get(), db_->DefaultColumnFamily(), rocksdb::CompactionOptions(), names, 1,
                                nullptr);
  }

  bool DeletesFiles() {
    uint64_t enabled = 0;
    EXPECT_TRUE(db_->GetIntProperty("rocksdb.is-file-deletions-enabled", &enabled));
    return enabled != 0;
  }

  void ExpectAllKeys() {
    std::string value;
    for (int key = 0; key < keys_; ++key) {
      EXPECT_TRUE(db_->Get(rocksdb::ReadOptions(), "key" + std::to_string(key), &value).ok()) << key;
    }
  }

  std::string directory_;
  const std::shared_ptr<FailingFileSystem> disk_ =
      std::make_shared<FailingFileSystem>(rocksdb::IOStatus::IOError("broken"), "MANIFEST");
  const std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(disk_);
  const std::shared_ptr<ManifestGuard> guard_ = std::make_shared<ManifestGuard>();
  std::unique_ptr<rocksdb::DB> db_;
  int keys_ = 0;
};

TEST_F(ManifestGuardTest, CompactsTheGivenFiles) {
  AddTable();
  AddTable();
  ASSERT_TRUE(CompactAll().ok());
  EXPECT_TRUE(DeletesFiles());
  std::string tables;
  ASSERT_TRUE(db_->GetProperty("rocksdb.num-files-at-level1", &tables));
  EXPECT_EQ(tables, "1");
  ExpectAllKeys();
}

TEST_F(ManifestGuardTest, KeepsFilesUntilTheManifestIsWritten) {
  AddTable();
  AddTable();
  disk_->fails = true;
  EXPECT_TRUE(CompactAll().IsIOError());
  EXPECT_EQ(DeletesFiles(), QuarantinesFiles());
  EXPECT_TRUE(CompactAll().IsIOError());
  EXPECT_EQ(DeletesFiles(), QuarantinesFiles());
  disk_->fails = false;
  AddTable();
  while (!DeletesFiles()) {  // Flush returns before RocksDB calls OnFlushCompleted
    std::this_thread::yield();
  }
  ASSERT_TRUE(CompactAll().ok());
  db_.reset();
  Open();
  ExpectAllKeys();
}

TEST_F(ManifestGuardTest, AnEarlierFlushDoesNotEnableDeletions) {
  AddTable();
  AddTable();
  rocksdb::FlushJobInfo before;
  before.job_id = 1;
  disk_->fails = true;
  guard_->OnFlushBegin(db_.get(), before);
  EXPECT_TRUE(CompactAll().IsIOError());
  guard_->OnFlushCompleted(db_.get(), before);
  EXPECT_EQ(DeletesFiles(), QuarantinesFiles());
}

TEST_F(ManifestGuardTest, IgnoresErrorsOfOtherThreads) {
  rocksdb::Status error = rocksdb::Status::IOError("in a compaction of RocksDB's own");
  guard_->OnBackgroundError(rocksdb::BackgroundErrorReason::kCompaction, &error);
  EXPECT_TRUE(DeletesFiles());
}

}  // namespace
}  // namespace rocktune
