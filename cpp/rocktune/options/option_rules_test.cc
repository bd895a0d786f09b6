#include "rocktune/options/option_rules.h"

#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

TEST(OptionRulesTest, RocksDbsDefaultsKeepThem) {
  std::unique_ptr<rocksdb::Env> env(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  rocksdb::Options options;
  options.env = env.get();
  options.create_if_missing = true;
  std::unique_ptr<rocksdb::DB> db;
  ASSERT_TRUE(OpenDatabase(options, "/rules", &db).ok());
  EXPECT_EQ(BrokenRule(rocksdb::ColumnFamilyOptions(db->GetOptions())), "");
  EXPECT_EQ(BrokenRule(db->GetDBOptions()), "");
}

class OptionRuleTest : public testing::TestWithParam<const char*> {};

TEST_P(OptionRuleTest, NamesTheOption) {
  rocksdb::ColumnFamilyOptions options;
  ASSERT_TRUE(
      rocksdb::GetColumnFamilyOptionsFromString(rocksdb::ConfigOptions(), {}, GetParam(), &options).ok());
  const std::string rule = BrokenRule(options);
  const std::string text = GetParam();
  EXPECT_NE(rule.find(text.substr(0, text.find('='))), std::string::npos)
      << text << " gives '" << rule << "'";
}

INSTANTIATE_TEST_SUITE_P(
    OfColumnFamilies, OptionRuleTest,
    testing::Values("write_buffer_size=1000", "write_buffer_size=1T", "arena_block_size=65M",
                    "max_write_buffer_number=1", "min_write_buffer_number_to_merge=2",
                    "level0_file_num_compaction_trigger=0", "level0_file_num_compaction_trigger=21",
                    "level0_slowdown_writes_trigger=3", "level0_slowdown_writes_trigger=37",
                    "level0_stop_writes_trigger=19", "soft_pending_compaction_bytes_limit=0",
                    "hard_pending_compaction_bytes_limit=1", "target_file_size_base=0",
                    "target_file_size_multiplier=0", "max_bytes_for_level_base=0",
                    "max_bytes_for_level_multiplier=0"));

class DbOptionRuleTest : public testing::TestWithParam<const char*> {};

TEST_P(DbOptionRuleTest, NamesTheOption) {
  rocksdb::DBOptions defaults;
  defaults.delayed_write_rate = 1;
  rocksdb::DBOptions options;
  ASSERT_TRUE(rocksdb::GetDBOptionsFromString(rocksdb::ConfigOptions(), defaults, GetParam(), &options).ok());
  const std::string text = GetParam();
  EXPECT_NE(BrokenRule(options).find(text.substr(0, text.find('='))), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(OfTheDatabase, DbOptionRuleTest,
                         testing::Values("max_background_jobs=0", "max_background_jobs=-1",
                                         "max_background_compactions=0", "max_background_flushes=0",
                                         "max_subcompactions=0", "delayed_write_rate=0", "max_open_files=0",
                                         "max_open_files=19"));

}  // namespace
}  // namespace rocktune
