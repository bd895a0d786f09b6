#include "worker/tables_command.h"

#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/db.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "rocktune/runner/run_error.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

class TablesCommandTest : public testing::Test {
 protected:
  TablesCommandTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rocktune-tables-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  ~TablesCommandTest() override { std::filesystem::remove_all(directory_); }

  void Open(rocksdb::Options options = {}) {
    options.create_if_missing = true;
    ASSERT_TRUE(OpenDatabase(options, directory_.string(), &database_).ok());
  }

  // Writes 10 keys of 4 bytes with values of 100 bytes, deletes 2 of them and a range, and flushes.
  void Fill(rocksdb::ColumnFamilyHandle* family) {
    const rocksdb::WriteOptions write;
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(database_->Put(write, family, "key" + std::to_string(i), std::string(100, 'v')).ok());
    }
    ASSERT_TRUE(database_->Flush({}, family).ok());
    ASSERT_TRUE(database_->Delete(write, family, "key1").ok());
    ASSERT_TRUE(database_->Delete(write, family, "key2").ok());
    ASSERT_TRUE(database_->DeleteRange(write, family, "key5", "key7").ok());
    ASSERT_TRUE(database_->Flush({}, family).ok());
  }

  StoreTables Read() const {
    return ReadTables({directory_.string()}, [](const char*, double, double) {});
  }

  std::filesystem::path directory_;
  std::unique_ptr<rocksdb::DB> database_;
};

TEST_F(TablesCommandTest, SumsUpEachFamilyOfAnOpenDatabase) {
  Open();
  rocksdb::ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(database_->CreateColumnFamily({}, "other", &other).ok());
  Fill(database_->DefaultColumnFamily());
  Fill(other);
  const StoreTables tables = Read();
  ASSERT_TRUE(database_->DestroyColumnFamilyHandle(other).ok());
  ASSERT_EQ(tables.families.size(), 2);
  for (const auto& [name, family] : tables.families) {
    EXPECT_EQ(family.tables, 2) << name;
    EXPECT_EQ(family.deletions, 2 + 1) << name;  // RocksDB counts a range among them
    EXPECT_EQ(family.range_deletions, 1) << name;
    EXPECT_EQ(family.entries, 10 + 2 + 1) << name;
    EXPECT_GE(family.raw_value_bytes, 1000) << name;
    EXPECT_EQ(family.comparators.count("leveldb.BytewiseComparator"), 1) << name;
  }
  EXPECT_EQ(tables.unread_tables, 0);
}

TEST_F(TablesCommandTest, ReadsTablesOfAnotherComparator) {
  rocksdb::Options options;
  options.comparator = rocksdb::ReverseBytewiseComparator();
  Open(options);
  const rocksdb::WriteOptions write;
  ASSERT_TRUE(database_->Put(write, "a", "b").ok());
  ASSERT_TRUE(database_->Flush({}).ok());
  const StoreTables tables = Read();
  ASSERT_EQ(tables.families.count("default"), 1) << tables.unread_example;
  EXPECT_EQ(tables.families.at("default").entries, 1);
}

TEST_F(TablesCommandTest, NamesTablesThatCannotBeRead) {
  std::ofstream(directory_ / "000007.sst") << "no table";
  const StoreTables tables = Read();
  EXPECT_EQ(tables.unread_tables, 1);
  EXPECT_NE(tables.unread_example.find("000007.sst"), std::string::npos);
  EXPECT_TRUE(tables.families.empty());
}

TEST_F(TablesCommandTest, RefusesADirectoryThatIsMissing) {
  EXPECT_THROW(ReadTables({(directory_ / "missing").string()}, [](const char*, double, double) {}), RunError);
}

}  // namespace
}  // namespace rocktune
