#include "rocktune/runner/options_examination.h"

#include <gtest/gtest.h>

#include <string>

#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

OptionMaps Everything() {
  const rocksdb::Options defaults;
  return MapsFromOptions(defaults, defaults);
}

TEST(OptionsExaminationTest, TakesWhatRocksDbWrites) {
  const OptionMaps maps = Everything();
  const OptionsExamination examination = ExamineOptions(maps);
  EXPECT_TRUE(examination.refused.empty());
  EXPECT_TRUE(examination.misread.empty());
  EXPECT_TRUE(examination.ignored.empty());
  EXPECT_EQ(examination.parsed, maps);
  EXPECT_EQ(examination.open_error, "");
}

TEST(OptionsExaminationTest, SaysWhatAnOpenStoreHasInstead) {
  const OptionsExamination examination =
      ExamineOptions({{{"delayed_write_rate", "0"}}, {{"write_buffer_size", "1000"}}, {}});
  EXPECT_EQ(examination.parsed.cf.at("write_buffer_size"), "1000");
  EXPECT_EQ(examination.opened.cf.at("write_buffer_size"), "65536");
  EXPECT_EQ(examination.opened.db.at("delayed_write_rate"), "16777216");
  EXPECT_FALSE(examination.parsed.table.contains("block_cache"));
}

TEST(OptionsExaminationTest, NamesEveryOptionThatRocksDbDoesNotTake) {
  const OptionsExamination examination =
      ExamineOptions({{{"max_background_jobs", "-7x"}, {"disableDataSync", "true"}},
                      {{"comparator", "my.Comparator"}, {"merge_operator", "my.Merger"}, {"no_such", "1"}},
                      {{"block_size", "0x10"}, {"filter_policy", "my.Filter"}}});
  EXPECT_EQ(examination.refused.at("cf").size(), 3u);
  EXPECT_TRUE(examination.refused.at("table").contains("filter_policy"));
  EXPECT_EQ(examination.misread.at("table").at("block_size"), "0");
  EXPECT_TRUE(examination.ignored.at("db").contains("disableDataSync"));
  EXPECT_EQ(examination.misread.at("db").at("max_background_jobs"), "-7");
  EXPECT_EQ(examination.open_error, "");
}

TEST(OptionsExaminationTest, ReadsOptionsTogetherThatNeedEachOther) {
  const OptionMaps::Map table = {{"partition_filters", "true"}, {"index_type", "kTwoLevelIndexSearch"}};
  const OptionsExamination together = ExamineOptions({{}, {}, table});
  EXPECT_TRUE(together.misread.empty());
  EXPECT_EQ(together.parsed.table.at("partition_filters"), "true");
  const OptionsExamination alone = ExamineOptions({{}, {}, {{"partition_filters", "true"}}});
  EXPECT_EQ(alone.misread.at("table").at("partition_filters"), "false");
}

TEST(OptionsExaminationTest, SaysWhyNoStoreOpens) {
  const OptionsExamination examination = ExamineOptions({{}, {}, {{"format_version", "99"}}});
  EXPECT_NE(examination.open_error.find("format_version"), std::string::npos) << examination.open_error;
  EXPECT_TRUE(examination.opened.cf.empty());
  EXPECT_EQ(examination.parsed.table.at("format_version"), "99");
}

TEST(OptionsExaminationTest, StartsNoThreadsAndTouchesNoPath) {
  const OptionsExamination examination = ExamineOptions(
      {{{"max_background_jobs", "2000000000"}, {"wal_dir", "/nowhere/wal"}, {"db_log_dir", "/nowhere/log"}},
       {},
       {}});
  EXPECT_EQ(examination.open_error, "");
  EXPECT_EQ(examination.opened.db.at("max_background_jobs"), "2000000000");
}

}  // namespace
}  // namespace rocktune
