// A stock database with column families becomes an FLSM store and a stock database again.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/flsm/fake_flsm_families.h"
#include "rocktune/flsm_migration.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

class FlsmFamiliesMigrationTest : public FlsmFamiliesTest {
 protected:
  ~FlsmFamiliesMigrationTest() override {
    std::filesystem::remove_all(source_);
    std::filesystem::remove_all(stock_);
  }

  static std::vector<rocksdb::ColumnFamilyDescriptor> Stock() {
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const FlsmFamily& family : Three()) {
      families.emplace_back(family.name, family.options);
      families.back().options.max_bytes_for_level_base = 256 << 10;
    }
    families[1].options.compaction_style = rocksdb::kCompactionStyleUniversal;
    return families;
  }
  // Opens a stock database, calls `use` with it, and closes it.
  template <typename Use>
  void WithStock(const std::string& path, const Use& use) {
    rocksdb::Options options = SmallOptions();
    options.create_missing_column_families = true;
    std::unique_ptr<rocksdb::DB> db;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    const rocksdb::Status status = OpenColumnFamilies(options, path, Stock(), &handles, &db);
    ASSERT_TRUE(status.ok()) << status.ToString();
    use(db.get(), handles);
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
    }
  }
  // Fills the families with different numbers of entries; the last ones are in the WAL alone.
  void MakeSource() {
    WithStock(source_, [](rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
      for (int key = 0; key < 1500; ++key) {
        for (std::size_t family = 0; family < handles.size(); ++family) {
          if (key % static_cast<int>(family + 1) == 0) {
            const std::string name = "key" + std::to_string(key * 31 % 1500);
            ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), handles[family], name, Value(family)).ok());
          }
        }
      }
    });
  }
  static void ExpectEntries(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
    for (std::size_t family = 0; family < handles.size(); ++family) {
      const std::unique_ptr<rocksdb::Iterator> iterator(
          db->NewIterator(rocksdb::ReadOptions(), handles[family]));
      int entries = 0;
      for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++entries) {
        ASSERT_EQ(iterator->value().ToString(), Value(family));
      }
      EXPECT_EQ(entries, 1500 / static_cast<int>(family + 1)) << handles[family]->GetName();
    }
  }

  const std::string source_ = directory_ + "-source";
  const std::string stock_ = directory_ + "-stock";
};

TEST_F(FlsmFamiliesMigrationTest, AllFamiliesGoInAndOut) {
  MakeSource();
  MigrationCost cost;
  ASSERT_TRUE(CostOfMigrationToFlsm(SmallOptions(), Three(), source_, &cost).ok());
  EXPECT_GT(cost.bytes, 1'000'000u);
  EXPECT_LE(cost.rewritten_bytes, cost.bytes);
  rocksdb::Status status = MigrateToFlsm(SmallOptions(), Three(), source_, directory_);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_TRUE(OpenFamilies(AsTheyAre(), directory_).ok());
  ExpectEntries(store_.get(), handles_);
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  EXPECT_EQ(store_->Shape(handles_[1]).size_ratio, 3);
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    ExpectShapeMatches(handle);
  }
  store_.reset();
  ASSERT_TRUE(CostOfMigrationToStock(SmallOptions(), Stock(), directory_, &cost).ok());
  EXPECT_GT(cost.bytes, 1'000'000u);
  status = MigrateToStock(SmallOptions(), Stock(), directory_, stock_);
  ASSERT_TRUE(status.ok()) << status.ToString();
  WithStock(stock_, ExpectEntries);
  EXPECT_FALSE(std::filesystem::exists(stock_ + "/FLSM"));
}

TEST_F(FlsmFamiliesMigrationTest, RefusesToLeaveAFamilyBehind) {
  MakeSource();
  std::vector<FlsmFamily> families = Three();
  families.pop_back();
  rocksdb::Status status = MigrateToFlsm(SmallOptions(), families, source_, directory_ + "-copy");
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("'users'"), std::string::npos) << status.ToString();
  families = Three();
  families.push_back({"more", SmallOptions(), {}});
  EXPECT_TRUE(MigrateToFlsm(SmallOptions(), families, source_, directory_ + "-copy").IsInvalidArgument());
  EXPECT_FALSE(std::filesystem::exists(directory_ + "-copy"));
}

}  // namespace
}  // namespace rocktune
