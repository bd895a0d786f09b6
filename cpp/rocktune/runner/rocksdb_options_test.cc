#include "rocktune/runner/rocksdb_options.h"

#include <gtest/gtest.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/table.h>

#include <nlohmann/json.hpp>
#include <string>

#include "rocktune/runner/run_error.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// Returns the message with which the options are refused; empty if they are accepted.
std::string Refusal(const OptionMaps& maps) {
  try {
    OptionsFromMaps(maps);
  } catch (const RunError& error) {
    EXPECT_EQ(error.failure(), RunFailure::kInvalid);
    return error.what();
  }
  return "";
}

void ExpectRefused(const OptionMaps& maps, const std::string& name, const std::string& value) {
  const std::string refusal = Refusal(maps);
  EXPECT_NE(refusal.find("'" + name + "'"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find(value), std::string::npos) << refusal;
  EXPECT_EQ(refusal.find('\n'), std::string::npos) << refusal;
}

TEST(RocksDbOptionsTest, SetsOptionsByName) {
  const rocksdb::Options options = OptionsFromMaps(
      {{{"max_background_jobs", "5"}, {"max_open_files", "-1"}},
       {{"write_buffer_size", "4M"}, {"compression", "kNoCompression"}, {"num_levels", "5"}},
       {{"block_size", "8K"}, {"filter_policy", "bloomfilter:10:false"}, {"block_cache", "3M"}}});
  EXPECT_EQ(options.max_background_jobs, 5);
  EXPECT_EQ(options.max_open_files, -1);
  EXPECT_EQ(options.write_buffer_size, size_t{4} << 20);
  EXPECT_EQ(options.compression, rocksdb::kNoCompression);
  EXPECT_EQ(options.num_levels, 5);
  const auto* table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->block_size, 8192u);
  EXPECT_NE(table->filter_policy, nullptr);
  EXPECT_EQ(table->block_cache->GetCapacity(), size_t{3} << 20);
}

TEST(RocksDbOptionsTest, KeepsRocksDbsDefaults) {
  const rocksdb::Options options = OptionsFromMaps({});
  EXPECT_EQ(options.write_buffer_size, rocksdb::Options().write_buffer_size);
  EXPECT_EQ(options.max_background_jobs, rocksdb::Options().max_background_jobs);
}

TEST(RocksDbOptionsTest, TheRateLimiterCanTuneItself) {
  const auto rate_of = [](const char* auto_tuned) {
    return OptionsFromMaps(
               {{{"rate_limiter_bytes_per_sec", "8M"}, {"rate_limiter_auto_tuned", auto_tuned}}, {}, {}})
        .rate_limiter->GetBytesPerSecond();
  };
  EXPECT_EQ(rate_of("false"), 8 << 20);
  EXPECT_EQ(rate_of("true"), 4 << 20) << "an auto-tuned limiter begins with half of the rate";
  ExpectRefused({{{"rate_limiter_auto_tuned", "true"}}, {}, {}}, "rate_limiter_auto_tuned",
                "needs rate_limiter_bytes_per_sec");
  ExpectRefused({{{"rate_limiter_bytes_per_sec", "8M"}, {"rate_limiter_auto_tuned", "1"}}, {}, {}},
                "rate_limiter_auto_tuned", "neither true nor false");
}

TEST(RocksDbOptionsTest, WhatIsReadBackCanBeGivenAgain) {
  const rocksdb::Options options =
      OptionsFromMaps({{{"bytes_per_sync", "1M"}, {"rate_limiter_bytes_per_sec", "7M"}},
                       {{"compaction_options_universal", "{size_ratio=7;}"},
                        {"compression_opts", "{level=3;}"},
                        {"prefix_extractor", "fixed:8"},
                        {"max_bytes_for_level_multiplier", "8.5"}},
                       {{"filter_policy", "ribbonfilter:9"}, {"block_cache", "1M"}}});
  EXPECT_EQ(options.rate_limiter->GetBytesPerSecond(), 7 << 20);
  EXPECT_EQ(options.compaction_options_universal.size_ratio, 7u);
  const OptionMaps read = MapsFromOptions(options, options);
  EXPECT_EQ(read.db.at("rate_limiter_bytes_per_sec"), "7340032");  // 7 * 2^20
  EXPECT_EQ(read.table.at("block_cache"), "1048576");
  const rocksdb::Options again = OptionsFromMaps(read);
  EXPECT_EQ(MapsFromOptions(again, again), read);
}

TEST(RocksDbOptionsTest, SurvivesJson) {
  const OptionMaps maps{{{"max_background_jobs", "5"}}, {{"num_levels", "5"}}, {{"block_cache", "0"}}};
  EXPECT_EQ(OptionMapsFromJson(ToJson(maps)), maps);
}

TEST(RocksDbOptionsTest, RefusesValuesThatRocksDbMisreads) {
  ExpectRefused({{}, {{"write_buffer_size", "-1"}}, {}}, "write_buffer_size", "'-1'");
  ExpectRefused({{}, {{"write_buffer_size", "0x10"}}, {}}, "write_buffer_size", "'0x10'");
  ExpectRefused({{}, {{"write_buffer_size", "1e6"}}, {}}, "write_buffer_size", "'1e6'");
  ExpectRefused({{}, {{"num_levels", "7x"}}, {}}, "num_levels", "'7x'");
  ExpectRefused({{}, {{"compression", "kFoo"}}, {}}, "compression", "'kFoo'");
  ExpectRefused({{}, {}, {{"block_cache", "-1"}}}, "block_cache", "'-1'");
  ExpectRefused({{}, {}, {{"block_size", "0x10"}}}, "block_size", "'0x10'");
}

TEST(RocksDbOptionsTest, TakesEmptyLists) {
  EXPECT_EQ(Refusal({{}, {{"compression_per_level", ""}}, {}}), "");
}

TEST(RocksDbOptionsTest, RefusesUnknownNames) {
  ExpectRefused({{{"nosuch", "1"}}, {}, {}}, "nosuch", RocksDbVersion());
  ExpectRefused({{}, {{"nosuch", "1"}}, {}}, "nosuch", RocksDbVersion());
  ExpectRefused({{}, {}, {{"nosuch", "1"}}}, "nosuch", RocksDbVersion());
  // A known name in the wrong section.
  ExpectRefused({{{"write_buffer_size", "4M"}}, {}, {}}, "write_buffer_size", RocksDbVersion());
}

TEST(RocksDbOptionsTest, RefusesForeignObjects) {
  for (const std::string expected : {"my.Object", "engine 'command'"}) {
    ExpectRefused({{}, {{"comparator", "my.Object"}}, {}}, "comparator", expected);
    ExpectRefused({{}, {{"merge_operator", "my.Object"}}, {}}, "merge_operator", expected);
  }
  ExpectRefused({{}, {{"table_factory", "PlainTable"}}, {}}, "table_factory", "BlockBasedTable");
  ExpectRefused({{}, {}, {{"filter_policy", "my.Filter"}}}, "filter_policy", "my.Filter");
}

TEST(RocksDbOptionsTest, RefusesJsonOfAnotherForm) {
  EXPECT_THROW(OptionMapsFromJson(nlohmann::json::array()), RunError);
  EXPECT_THROW(OptionMapsFromJson({{"cf", {{"num_levels", 7}}}}), RunError);
  EXPECT_THROW(OptionMapsFromJson({{"columns", nlohmann::json::object()}}), RunError);
}

}  // namespace
}  // namespace rocktune
