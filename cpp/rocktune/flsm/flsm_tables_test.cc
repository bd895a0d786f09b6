#include "rocktune/flsm/flsm_tables.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace rocktune {
namespace {

using Numbers = std::vector<uint64_t>;

rocksdb::ColumnFamilyMetaData Metadata(const std::map<int, Numbers>& levels) {
  rocksdb::ColumnFamilyMetaData metadata;
  for (const auto& [level, numbers] : levels) {
    std::vector<rocksdb::SstFileMetaData> files;
    for (const uint64_t number : numbers) {
      rocksdb::SstFileMetaData file;
      file.name = "/00" + std::to_string(number) + ".sst";
      file.size = number;
      files.push_back(file);
    }
    metadata.levels.emplace_back(level, 0, std::move(files));
  }
  return metadata;
}

Numbers NumbersAt(const FlsmTables& tables, const std::vector<int>& physical) {
  Numbers numbers;
  for (const FlsmTable& table : tables.At(physical)) {
    numbers.push_back(table.number);
  }
  return numbers;
}

TEST(FlsmTablesTest, ReadsNumbersFromNamesAndPaths) {
  EXPECT_EQ(TableNumber("/000123.sst"), 123);
  EXPECT_EQ(TableNumber("/tmp/7.d/000045.sst"), 45);
  EXPECT_EQ(TableNumber("CURRENT"), 0);
  EXPECT_EQ(TableNumber(TableName(12)), 12);
}

TEST(FlsmTablesTest, FollowsFlushesAndCompactions) {
  FlsmTables tables;
  tables.Read(Metadata({{0, {}}, {1, {}}, {30, {10, 11}}}));
  tables.AddFlushed({12, 100});
  tables.AddFlushed({13, 50});
  EXPECT_EQ(tables.Count(0), 2);
  EXPECT_EQ(tables.Bytes(0), 150);
  EXPECT_EQ(NumbersAt(tables, {0, 30}), (Numbers{12, 13, 10, 11}));
  tables.Replace(tables.At({0, 30}), 30, {{14, 90}, {15, 80}});
  EXPECT_EQ(tables.Count(0), 0);
  EXPECT_EQ(NumbersAt(tables, {0, 30}), (Numbers{14, 15}));
  EXPECT_EQ(tables.Bytes(30), 170);
  EXPECT_EQ(tables.Bytes(29), 0);
}

TEST(FlsmTablesTest, LateAndRepeatedEventsChangeNothing) {
  FlsmTables tables;
  tables.Read(Metadata({{0, {21}}}));
  tables.AddFlushed({21, 21});
  EXPECT_EQ(tables.Count(0), 1) << "known from the metadata";
  tables.Replace(tables.At({0}), 30, {{22, 40}});
  tables.AddFlushed({21, 21});
  tables.AddFlushed({20, 20});
  EXPECT_EQ(tables.Count(0), 0) << "a compaction of level 0 includes all older tables";
  // The metadata may be read between a compaction's end and its event.
  tables.Read(Metadata({{30, {23}}}));
  tables.Replace({{22, 40}}, 30, {{23, 23}});
  EXPECT_EQ(NumbersAt(tables, {30}), (Numbers{23}));
}

TEST(FlsmTablesTest, KnowsFilesThatOthersDeleted) {
  FlsmTables tables;
  tables.AddFlushed({1, 10});
  tables.AddFlushed({2, 20});
  EXPECT_FALSE(tables.MarkDeleted(7)) << "an unknown table";
  tables.Use({{1, 10}});
  EXPECT_TRUE(tables.MarkDeleted(1)) << "deleted by the compaction that uses it";
  EXPECT_FALSE(tables.HasDeletedTables());
  EXPECT_TRUE(tables.MayHaveDeletedTables());
  tables.Release({{1, 10}});
  tables.Replace({{1, 10}}, 1, {{3, 10}});
  EXPECT_FALSE(tables.MayHaveDeletedTables());
  EXPECT_TRUE(tables.MarkDeleted(2));
  EXPECT_TRUE(tables.HasDeletedTables());
}

}  // namespace
}  // namespace rocktune
