// A stock database becomes an FLSM store and a stock database again. The source never changes, and kills at
// any file operation lose nothing.

#include "rocktune/flsm_migration.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "rocktune/flsm/fake_flsm_store.h"
#include "rocktune/flsm/fake_killed_migration.h"
#include "rocktune/util/fake_crash.h"
#include "rocktune/util/fake_dying_process.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr int kKeys = 3000;

rocksdb::Options StockOptions(rocksdb::CompactionStyle style) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 64 << 10;
  options.max_bytes_for_level_base = 256 << 10;
  options.max_bytes_for_level_multiplier = 4;
  options.compaction_style = style;
  options.compression = rocksdb::kNoCompression;
  return options;
}

FlsmOptions SmallLayout() {
  FlsmOptions layout;
  layout.size_ratio = 4;
  layout.policies = {2};
  return layout;
}

class FlsmMigrationTest : public testing::Test {
 protected:
  ~FlsmMigrationTest() override {
    for (const std::string& each : {source_, flsm_, stock_}) {
      std::filesystem::remove_all(each);
    }
  }

  // Fills the source with entries in several levels and some in its WAL alone.
  void MakeSource(const rocksdb::Options& options) {
    std::unique_ptr<rocksdb::DB> db;
    ASSERT_TRUE(OpenDatabase(options, source_, &db).ok());
    for (int key = 0; key < kKeys; ++key) {
      const std::string name = ScatteredKey(static_cast<uint64_t>(key * 31 % kKeys));
      ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), name, std::to_string(key) + std::string(500, 'v')).ok());
    }
    ASSERT_TRUE(db->Delete(rocksdb::WriteOptions(), ScatteredKey(0)).ok());
    ASSERT_TRUE(db->Close().ok());
    db.reset();
    Remember(source_);
  }
  // Remembers a directory, for ExpectUntouched.
  void Remember(const std::string& directory) {
    before_ = FilesOf(directory);
    std::unique_ptr<rocksdb::DB> db;
    if (directory == source_) {
      ASSERT_TRUE(OpenDatabaseReadOnly(StockOptions(rocksdb::kCompactionStyleLevel), source_, &db).ok());
      expected_ = EntriesOf(db.get());
      db.reset();
      before_ = FilesOf(directory);
    }
  }
  void ExpectUntouched(const std::string& directory) { EXPECT_EQ(FilesOf(directory), before_); }

  static std::map<std::string, std::string> EntriesOf(rocksdb::DB* db) {
    std::map<std::string, std::string> entries;
    const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(rocksdb::ReadOptions()));
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      entries[iterator->key().ToString()] = iterator->value().ToString();
    }
    EXPECT_TRUE(iterator->status().ok());
    return entries;
  }

  // Expects that the FLSM store has all entries and takes more.
  void ExpectStore() {
    std::unique_ptr<FlsmStore> store;
    const rocksdb::Status status =
        FlsmStore::Open(StockOptions(rocksdb::kCompactionStyleLevel), {}, flsm_, &store);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(EntriesOf(store.get()), expected_);
    ASSERT_TRUE(store->WaitUntilSettled().ok());
    EXPECT_EQ(Violation(store->Shape()), "");
    EXPECT_EQ(store->Shape().size_ratio, 4);
    EXPECT_EQ(EntriesOf(store.get()), expected_);
    EXPECT_FALSE(std::filesystem::exists(flsm_ + "/ROCKTUNE_MIGRATION"));
  }
  // Adds a run to the FLSM store, and an entry to its WAL.
  void WriteToStore() {
    std::unique_ptr<FlsmStore> store;
    ASSERT_TRUE(FlsmStore::Open(StockOptions(rocksdb::kCompactionStyleLevel), {}, flsm_, &store).ok());
    for (const std::string& key : {std::string("1"), std::string("9")}) {
      expected_[key] = "new";
      ASSERT_TRUE(store->Put(rocksdb::WriteOptions(), key, "new").ok());
      ASSERT_TRUE(key == "9" || store->Flush(rocksdb::FlushOptions()).ok());
    }
  }
  // Expects that the stock database has all entries and compacts.
  void ExpectStock(const rocksdb::Options& options) {
    std::unique_ptr<rocksdb::DB> db;
    const rocksdb::Status status = OpenDatabase(options, stock_, &db);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(db->NumberLevels(), options.num_levels);
    EXPECT_EQ(EntriesOf(db.get()), expected_);
    ASSERT_TRUE(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
    EXPECT_EQ(EntriesOf(db.get()), expected_);
    EXPECT_FALSE(std::filesystem::exists(stock_ + "/FLSM"));
    EXPECT_FALSE(std::filesystem::exists(stock_ + "/ROCKTUNE_MIGRATION"));
  }
  rocksdb::Status ToFlsm(rocksdb::Env* env = rocksdb::Env::Default()) {
    rocksdb::Options options = StockOptions(rocksdb::kCompactionStyleLevel);
    options.env = env;
    return MigrateToFlsm(options, SmallLayout(), source_, flsm_);
  }

  static std::string NewPath(const std::string& name) {
    return testing::TempDir() + "migration-" + std::to_string(getpid()) + name;
  }

  std::map<std::string, std::string> expected_;
  DirectoryState before_;
  const std::string source_ = NewPath("-source");
  const std::string flsm_ = NewPath("-flsm");
  const std::string stock_ = NewPath("-stock");
};

class FlsmMigrationStylesTest : public FlsmMigrationTest,
                                public testing::WithParamInterface<rocksdb::CompactionStyle> {};

TEST_P(FlsmMigrationStylesTest, GoesInAndOut) {
  const rocksdb::Options options = StockOptions(GetParam());
  MakeSource(options);
  MigrationCost cost;
  ASSERT_TRUE(CostOfMigrationToFlsm(options, SmallLayout(), source_, &cost).ok());
  EXPECT_GT(cost.bytes, 1'000'000u);
  EXPECT_LE(cost.rewritten_bytes, cost.bytes);
  EXPECT_DOUBLE_EQ(cost.Seconds(1000), 2 * static_cast<double>(cost.rewritten_bytes) / 1000);
  rocksdb::Status status = MigrateToFlsm(options, SmallLayout(), source_, flsm_);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ExpectUntouched(source_);
  ExpectStore();
  WriteToStore();
  Remember(flsm_);
  ASSERT_TRUE(CostOfMigrationToStock(options, flsm_, &cost).ok());
  EXPECT_GT(cost.rewritten_bytes, 0u);
  status = MigrateToStock(options, flsm_, stock_);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ExpectUntouched(flsm_);
  ExpectStock(options);
}

INSTANTIATE_TEST_SUITE_P(Styles, FlsmMigrationStylesTest,
                         testing::Values(rocksdb::kCompactionStyleLevel, rocksdb::kCompactionStyleUniversal));

TEST_F(FlsmMigrationTest, ALevelZeroLargerThanLevelOneBecomesARun) {
  rocksdb::Options options = StockOptions(rocksdb::kCompactionStyleUniversal);
  options.num_levels = 1;
  MakeSource(options);
  ASSERT_TRUE(ToFlsm().ok());
  FlsmShape shape;
  ASSERT_TRUE(ReadShape(flsm_, &shape).ok());
  EXPECT_EQ(shape.level0_files, 0u) << ToText(shape);
  EXPECT_GE(shape.LevelsInUse(), 2) << ToText(shape);
  ExpectStore();
}

TEST_F(FlsmMigrationTest, AnEmptyDatabaseGoesInAndOut) {
  std::unique_ptr<rocksdb::DB> db;
  const rocksdb::Options options = StockOptions(rocksdb::kCompactionStyleLevel);
  ASSERT_TRUE(OpenDatabase(options, source_, &db).ok());
  db.reset();
  ASSERT_TRUE(ToFlsm().ok());
  ExpectStore();
  ASSERT_TRUE(MigrateToStock(options, flsm_, stock_).ok());
  ExpectStock(options);
}

TEST_F(FlsmMigrationTest, RefusesWhatItCannotMigrate) {
  const rocksdb::Options options = StockOptions(rocksdb::kCompactionStyleLevel);
  EXPECT_TRUE(ToFlsm().IsInvalidArgument()) << "there is no source";
  std::unique_ptr<rocksdb::DB> db;
  ASSERT_TRUE(OpenDatabase(options, source_, &db).ok());
  rocksdb::Status status = ToFlsm();
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  EXPECT_NE(status.ToString().find("is open"), std::string::npos) << status.ToString();
  EXPECT_TRUE(MigrateToStock(options, source_, stock_).IsInvalidArgument()) << "it is no FLSM store";
  rocksdb::Options fifo = options;
  fifo.compaction_style = rocksdb::kCompactionStyleFIFO;
  EXPECT_TRUE(MigrateToStock(fifo, source_, stock_).IsInvalidArgument());
  rocksdb::ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), "more", &family).ok());
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
  db.reset();
  rocksdb::Options elsewhere = options;
  elsewhere.wal_dir = stock_;
  EXPECT_TRUE(MigrateToFlsm(elsewhere, SmallLayout(), source_, flsm_).IsNotSupported());
  status = ToFlsm();
  EXPECT_TRUE(status.IsInvalidArgument()) << "it has a further column family";
  EXPECT_NE(status.ToString().find("'more'"), std::string::npos) << status.ToString();
  EXPECT_FALSE(std::filesystem::exists(stock_));
}

TEST_F(FlsmMigrationTest, LeavesAForeignTargetAlone) {
  MakeSource(StockOptions(rocksdb::kCompactionStyleLevel));
  std::filesystem::create_directory(flsm_);
  std::ofstream(flsm_ + "/mine") << "text";
  EXPECT_TRUE(ToFlsm().IsInvalidArgument());
  std::filesystem::remove(flsm_ + "/mine");
  std::ofstream(flsm_ + "/ROCKTUNE_MIGRATION") << "of another source";
  EXPECT_TRUE(ToFlsm().IsInvalidArgument());
  EXPECT_EQ(FilesOf(flsm_).size(), 1u);
}

class FlsmMigrationCrashTest : public FlsmMigrationTest {
 protected:
  static void Kill(const std::string& way) {
    const int step = KillCount() > 4 ? 1 : 5;
    const int kills = KillUntilDone(
        {NewPath(""), way, false}, "FlsmMigrationChild.DISABLED_MigratesUntilItIsKilled",
        [step](int dies_at) { return dies_at + step; }, [] {});
    EXPECT_GE(kills, 5);
  }
};

TEST_F(FlsmMigrationCrashTest, GoesOnAfterEachKill) {
  const rocksdb::Options options = StockOptions(rocksdb::kCompactionStyleLevel);
  MakeSource(options);
  Kill("i");
  ExpectUntouched(source_);
  ExpectStore();
  WriteToStore();
  Remember(flsm_);
  Kill("o");
  ExpectUntouched(flsm_);
  ExpectStock(options);
}

TEST(FlsmMigrationChild, DISABLED_MigratesUntilItIsKilled) {
  CrashCase of;
  if (!ReadCrashCase(&of)) {
    GTEST_SKIP() << "is started by FlsmMigrationCrashTest";
  }
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<DyingFileSystem>(std::stoi(of.variant.substr(1))));
  rocksdb::Options options = StockOptions(rocksdb::kCompactionStyleLevel);
  options.env = env.get();
  const rocksdb::Status status =
      of.variant.front() == 'i'
          ? MigrateToFlsm(options, SmallLayout(), of.directory + "-source", of.directory + "-flsm")
          : MigrateToStock(options, of.directory + "-flsm", of.directory + "-stock");
  ASSERT_TRUE(status.ok()) << status.ToString();
}

}  // namespace
}  // namespace rocktune
