// An FLSM store's shape survives reopening, Checkpoint and BackupEngine, but not DestroyDB.

#include <gtest/gtest.h>
#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/options_util.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/flsm/fake_flsm_store.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr int kEntries = 3000;

class FlsmCopiesTest : public FlsmStoreTest {
 protected:
  ~FlsmCopiesTest() override {
    std::filesystem::remove_all(copy_);
    std::filesystem::remove_all(backups_);
  }

  // Creates a store with several levels and a policy changed since its creation.
  void MakeStore() {
    ASSERT_TRUE(Open(Layout({4, 2})).ok());
    Put(0, kEntries, std::string(1000, 'v'));
    ASSERT_TRUE(store_->SetPolicy(3, 4, FlsmTransition::kFlexible).ok());
    ASSERT_TRUE(store_->WaitUntilSettled().ok());
  }
  rocksdb::Status Checkpoint(uint64_t log_size_for_flush) {
    rocksdb::Checkpoint* raw = nullptr;
    rocksdb::Status status = rocksdb::Checkpoint::Create(store_.get(), &raw);
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
    return status.ok() ? checkpoint->CreateCheckpoint(copy_, log_size_for_flush) : status;
  }
  std::unique_ptr<rocksdb::BackupEngine> Backups() {
    rocksdb::BackupEngine* engine = nullptr;
    EXPECT_TRUE(
        rocksdb::BackupEngine::Open(rocksdb::Env::Default(), rocksdb::BackupEngineOptions(backups_), &engine)
            .ok());
    return std::unique_ptr<rocksdb::BackupEngine>(engine);
  }
  rocksdb::Status Restore() { return Backups()->RestoreDBFromLatestBackup(copy_, copy_); }

  void ExpectAllEntries(rocksdb::DB* db) {
    std::string value;
    for (int key = 0; key < kEntries; ++key) {
      const rocksdb::Status status = db->Get(rocksdb::ReadOptions(), "key" + std::to_string(key), &value);
      ASSERT_TRUE(status.ok()) << key << ": " << status.ToString();
    }
  }
  // Expects that the copy opens as a store with the original's policies and entries, and takes writes.
  void ExpectCopyIsAStore() {
    std::unique_ptr<FlsmStore> copy;
    const rocksdb::Status status = FlsmStore::Open(SmallOptions(), FlsmOptions(), copy_, &copy);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ExpectAllEntries(copy.get());
    ASSERT_TRUE(copy->WaitUntilSettled().ok());
    const FlsmShape shape = copy->Shape();
    EXPECT_EQ(Violation(shape), "");
    EXPECT_EQ(shape.size_ratio, 4);
    EXPECT_EQ(shape.level(2).policy, 2);
    EXPECT_EQ(shape.level(3).policy, 4);
    for (int key = 0; key < kEntries; ++key) {
      ASSERT_TRUE(copy->Put(rocksdb::WriteOptions(), "new" + std::to_string(key), "v").ok());
    }
    ASSERT_TRUE(copy->Flush(rocksdb::FlushOptions()).ok());
    ASSERT_TRUE(copy->WaitUntilSettled().ok());
    copy.reset();
    ASSERT_TRUE(FlsmStore::Open(SmallOptions(), FlsmOptions(), copy_, &copy).ok()) << "once more";
    EXPECT_EQ(copy->Shape().level(3).policy, 4);
    ExpectAllEntries(copy.get());
  }

  const std::string copy_ = directory_ + "-copy";
  const std::string backups_ = directory_ + "-backups";
};

TEST_F(FlsmCopiesTest, ACheckpointIsAStore) {
  MakeStore();
  ASSERT_TRUE(Checkpoint(0).ok());
  FlsmShape shape;
  ASSERT_TRUE(ReadShape(copy_, &shape).ok()) << "before the copy was ever opened";
  EXPECT_EQ(shape.level(3).policy, 4);
  ExpectCopyIsAStore();
}

TEST_F(FlsmCopiesTest, ACheckpointWithTheWalIsAStore) {
  MakeStore();
  ASSERT_TRUE(Checkpoint(uint64_t{1} << 40).ok());
  ExpectCopyIsAStore();
}

TEST_F(FlsmCopiesTest, ARestoredBackupIsAStore) {
  MakeStore();
  ASSERT_TRUE(Backups()->CreateNewBackup(store_.get(), true).ok());
  ASSERT_TRUE(Backups()->VerifyBackup(1, true).ok());
  ASSERT_TRUE(Restore().ok());
  ExpectCopyIsAStore();
}

TEST_F(FlsmCopiesTest, ABackupRestoredOverAStoreReplacesItsShape) {
  MakeStore();
  ASSERT_TRUE(Backups()->CreateNewBackup(store_.get(), false).ok());
  FlsmOptions other = Layout({1});
  other.size_ratio = 6;
  std::unique_ptr<FlsmStore> there;
  ASSERT_TRUE(FlsmStore::Open(SmallOptions(), other, copy_, &there).ok());
  there.reset();
  ASSERT_TRUE(Restore().ok());
  ExpectCopyIsAStore();
}

TEST_F(FlsmCopiesTest, ACopyOfACopyIsAStore) {
  MakeStore();
  ASSERT_TRUE(Backups()->CreateNewBackup(store_.get(), true).ok());
  store_.reset();
  ASSERT_TRUE(Backups()->RestoreDBFromLatestBackup(directory_, directory_).ok()) << "in place";
  ASSERT_TRUE(Open(FlsmOptions()).ok());
  ASSERT_TRUE(Checkpoint(0).ok());
  ExpectCopyIsAStore();
}

TEST_F(FlsmCopiesTest, ACopyOpensAfterACrashDuringAdoption) {
  MakeStore();
  ASSERT_TRUE(Checkpoint(0).ok());
  // The state between Adopt's two steps: both files are there.
  std::filesystem::copy_file(copy_ + "/000000.dbtmp", copy_ + "/FLSM");
  ExpectCopyIsAStore();
  EXPECT_FALSE(std::filesystem::exists(copy_ + "/000000.dbtmp"));
}

TEST_F(FlsmCopiesTest, AStockRocksDbOpensAndCompactsACopy) {
  MakeStore();
  ASSERT_TRUE(Checkpoint(0).ok());
  rocksdb::Options stock;
  ASSERT_TRUE(LoadStockOptions(copy_, &stock).ok());
  EXPECT_EQ(stock.compaction_style, rocksdb::kCompactionStyleLevel);
  EXPECT_EQ(stock.write_buffer_size, SmallOptions().write_buffer_size);
  EXPECT_FALSE(stock.disable_auto_compactions);
  std::unique_ptr<rocksdb::DB> db;
  const rocksdb::Status status = OpenDatabase(stock, copy_, &db);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ExpectAllEntries(db.get());
  for (int round = 0; round < 8; ++round) {
    for (int key = 0; key < 200; ++key) {
      ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), "key" + std::to_string(key), "w").ok());
    }
    ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok());
  }
  ASSERT_TRUE(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(&metadata);
  int levels_in_use = 0;
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    levels_in_use += level.files.empty() ? 0 : 1;
  }
  EXPECT_EQ(levels_in_use, 1);
  ExpectAllEntries(db.get());
}

TEST_F(FlsmCopiesTest, OpensByItsOptionsFileWithoutCompactions) {
  MakeStore();
  store_.reset();
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  ASSERT_TRUE(rocksdb::LoadLatestOptions(rocksdb::ConfigOptions(), directory_, &options, &families).ok());
  ASSERT_EQ(families.size(), 1u) << "the shape is in no column family, which others would have to name";
  std::unique_ptr<rocksdb::DB> db;
  ASSERT_TRUE(OpenDatabase(rocksdb::Options(options, families[0].options), directory_, &db).ok());
  ExpectAllEntries(db.get());
  db.reset();
  ASSERT_TRUE(Open(FlsmOptions()).ok()) << "still an FLSM store afterwards";
  EXPECT_EQ(store_->Shape().level(3).policy, 4);
  ExpectAllEntries(store_.get());
}

TEST_F(FlsmCopiesTest, ANewStoreIgnoresTheShapeThatDestroyDbLeaves) {
  MakeStore();
  store_.reset();
  ASSERT_TRUE(rocksdb::DestroyDB(directory_, SmallOptions()).ok());
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/FLSM")) << "RocksDB deletes only its own files";
  FlsmShape shape;
  EXPECT_TRUE(ReadShape(directory_, &shape).IsNotFound());
  FlsmOptions other = Layout({3});
  other.size_ratio = 6;
  ASSERT_TRUE(Open(other).ok());
  EXPECT_EQ(store_->Shape().size_ratio, 6);
  EXPECT_EQ(store_->Shape().level(1).policy, 3);
  EXPECT_EQ(store_->Shape().level(3).policy, 3);
}

TEST_F(FlsmCopiesTest, ANewStoreIgnoresAnUnfinishedCreation) {
  std::ofstream(directory_ + "/FLSM") << "{";
  ASSERT_TRUE(Open(Layout({2})).ok());
  EXPECT_EQ(store_->Shape().level(1).policy, 2);
}

TEST_F(FlsmCopiesTest, RefusesAnotherLayoutThanTheStores) {
  ASSERT_TRUE(Open(Layout({4})).ok());
  store_.reset();
  FlsmOptions other = Layout({4});
  other.size_ratio = 5;
  rocksdb::Status status = Open(other);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("made with 4"), std::string::npos) << status.ToString();
  FlsmOptions fewer = Layout({4});
  fewer.levels = 5;
  status = Open(fewer);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("has 6"), std::string::npos) << status.ToString();
  FlsmOptions more = Layout({4});
  more.levels = 8;
  ASSERT_TRUE(Open(more).ok());
  EXPECT_EQ(store_->Shape().deepest(), 8);
  store_.reset();
  ASSERT_TRUE(Open(FlsmOptions()).ok()) << "the store's own layout";
}

TEST_F(FlsmCopiesTest, CreatesNothingWithoutCreateIfMissing) {
  rocksdb::Options options = SmallOptions();
  options.create_if_missing = false;
  const rocksdb::Status status = FlsmStore::Open(options, Layout({1}), copy_, &store_);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("create_if_missing"), std::string::npos) << status.ToString();
  EXPECT_FALSE(std::filesystem::exists(copy_));
}

TEST_F(FlsmCopiesTest, AnUnreadableShapeFailsTheCopy) {
  MakeStore();
  const std::string file = directory_ + "/FLSM";
  // A directory cannot be replaced by a file. Repeated, because a compaction that ends may write the file
  // again.
  do {
    std::filesystem::remove(file);
  } while (mkdir(file.c_str(), 0700) != 0);
  EXPECT_FALSE(Checkpoint(uint64_t{1} << 40).ok());
  EXPECT_FALSE(std::filesystem::exists(copy_));
}

}  // namespace
}  // namespace rocktune
