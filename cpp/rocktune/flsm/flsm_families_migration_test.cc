// A stock database with column families becomes an FLSM store and a stock database again, also under kills.
// ROCKTUNE_MIGRATED_MB sets the size of the database that is migrated under kills.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/flsm/fake_flsm_families.h"
#include "rocktune/flsm/fake_killed_migration.h"
#include "rocktune/flsm_migration.h"
#include "rocktune/util/fake_crash.h"
#include "rocktune/util/fake_dying_process.h"
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
  void WithStock(const std::string& path, const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                 const Use& use) {
    rocksdb::Options options = SmallOptions();
    options.create_missing_column_families = true;
    std::unique_ptr<rocksdb::DB> db;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    const rocksdb::Status status = OpenColumnFamilies(options, path, families, &handles, &db);
    ASSERT_TRUE(status.ok()) << status.ToString();
    use(db.get(), handles);
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
    }
  }
  // Fills the families with different numbers of entries; the last ones are in the WAL alone.
  void MakeSource() {
    WithStock(
        source_, Stock(), [](rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
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
  WithStock(stock_, Stock(), ExpectEntries);
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

// The families as they are in the tests under kills, whose tables grow with the database.
class FlsmFamiliesMigrationCrashTest : public FlsmFamiliesMigrationTest {
 public:
  static constexpr const char* kChild = "FlsmFamiliesMigrationChild.DISABLED_MigratesUntilItIsKilled";

  // Returns the number of keys of the default family; the next ones have half and a third of it.
  static int Keys() {
    const char* megabytes = std::getenv("ROCKTUNE_MIGRATED_MB");
    return megabytes == nullptr ? 1500 : std::stoi(megabytes) * 1000;
  }
  static void SetSizes(rocksdb::ColumnFamilyOptions* options) {
    options->write_buffer_size = std::max<std::size_t>(64 << 10, static_cast<std::size_t>(Keys()) * 4);
    options->target_file_size_base = options->write_buffer_size;
    options->max_bytes_for_level_base = 4 * options->write_buffer_size;
  }
  static std::vector<FlsmFamily> SizedThree() {
    std::vector<FlsmFamily> families = Three();
    for (FlsmFamily& family : families) {
      SetSizes(&family.options);
    }
    return families;
  }
  static std::vector<rocksdb::ColumnFamilyDescriptor> SizedStock() {
    std::vector<rocksdb::ColumnFamilyDescriptor> families = Stock();
    for (rocksdb::ColumnFamilyDescriptor& family : families) {
      SetSizes(&family.options);
    }
    return families;
  }

 protected:
  using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;

  static std::string Key(int number) {
    const std::string digits = std::to_string(number);
    return std::string(8 - digits.size(), '0') + digits;
  }
  static std::string ValueOf(std::size_t family, int number) { return Key(number) + Value(family); }

  // Writes each key twice, in scattered order, so that each family has overlapping runs.
  static void Fill(rocksdb::DB* db, const Handles& handles) {
    for (std::size_t family = 0; family < handles.size(); ++family) {
      const int keys = Keys() / static_cast<int>(family + 1);
      for (int number = 0; number < 2 * keys; ++number) {
        const int key = static_cast<int>(int64_t{number} * 7919 % keys);
        const std::string value = number < keys ? "old" : ValueOf(family, key);
        ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), handles[family], Key(key), value).ok());
      }
    }
  }
  // Expects every key of every family, and no other one.
  static void ExpectEveryKey(rocksdb::DB* db, const Handles& handles) {
    for (std::size_t family = 0; family < handles.size(); ++family) {
      const std::unique_ptr<rocksdb::Iterator> iterator(
          db->NewIterator(rocksdb::ReadOptions(), handles[family]));
      int number = 0;
      for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++number) {
        ASSERT_EQ(iterator->key().ToString(), Key(number)) << handles[family]->GetName();
        ASSERT_EQ(iterator->value().ToString(), ValueOf(family, number)) << handles[family]->GetName();
      }
      EXPECT_TRUE(iterator->status().ok());
      EXPECT_EQ(number, Keys() / static_cast<int>(family + 1)) << handles[family]->GetName();
    }
  }
  // Migrates with at least ten kills, after each of which the source is as it was.
  void Kill(const std::string& way, const std::string& source) {
    const DirectoryState before = FilesOf(source);
    const auto next = [](int dies_at) { return dies_at + std::max(1, dies_at / 4); };
    const int kills = KillUntilDone({directory_, way, false}, kChild, next,
                                    [&] { EXPECT_EQ(FilesOf(source), before) << "the source has changed"; });
    EXPECT_GE(kills, 10) << way;
    RecordProperty("kills_" + way, kills);
  }
};

TEST_F(FlsmFamiliesMigrationCrashTest, EveryKeyOfEveryFamilySurvivesKills) {
  WithStock(source_, SizedStock(), Fill);
  Kill("in", source_);
  std::vector<FlsmFamily> families = SizedThree();
  for (FlsmFamily& family : families) {
    family.layout = FlsmOptions();
  }
  ASSERT_TRUE(OpenFamilies(families, directory_).ok());
  ExpectEveryKey(store_.get(), handles_);
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    ExpectShapeMatches(handle);
  }
  EXPECT_EQ(store_->Shape(handles_[1]).size_ratio, 3);
  store_.reset();
  Kill("out", directory_);
  WithStock(stock_, SizedStock(), ExpectEveryKey);
  EXPECT_FALSE(std::filesystem::exists(stock_ + "/FLSM"));
  EXPECT_FALSE(std::filesystem::exists(stock_ + "/ROCKTUNE_MIGRATION"));
}

TEST(FlsmFamiliesMigrationChild, DISABLED_MigratesUntilItIsKilled) {
  using Parent = FlsmFamiliesMigrationCrashTest;
  CrashCase of;
  if (!ReadCrashCase(&of)) {
    GTEST_SKIP() << "is started by FlsmFamiliesMigrationCrashTest";
  }
  const bool goes_in = of.variant.starts_with("in");
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(
      std::make_shared<DyingFileSystem>(std::stoi(of.variant.substr(goes_in ? 2 : 3))));
  rocksdb::Options options;
  options.env = env.get();
  const rocksdb::Status status =
      goes_in ? MigrateToFlsm(options, Parent::SizedThree(), of.directory + "-source", of.directory)
              : MigrateToStock(options, Parent::SizedStock(), of.directory, of.directory + "-stock");
  ASSERT_TRUE(status.ok()) << status.ToString();
}

}  // namespace
}  // namespace rocktune
