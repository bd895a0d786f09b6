#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "rocktune/options/watched_text.h"
#include "worker/session_fixture.h"

namespace rocktune {
namespace {

// Options: what a session checks and examines, and those that it refuses.
using SessionOptionsTest = SessionTest;

TEST_F(SessionOptionsTest, ChecksOptionsAndCanCheckTheResult) {
  const nlohmann::json reply =
      Send({{"command", "check_options"}, {"options", {{"cf", {{"num_levels", "5"}}}}}});
  EXPECT_EQ(reply.at("event"), "options");
  EXPECT_EQ(reply.at("options").at("cf").at("num_levels"), "5");
  EXPECT_EQ(Send({{"command", "check_options"}, {"options", reply.at("options")}}), reply);
  EXPECT_EQ(next_, Session::Next::kGoOn);
  ExpectError(Send({{"command", "check_options"}, {"options", {{"cf", {{"num_levels", "0x5"}}}}}}), "invalid",
              "num_levels");
}

TEST_F(SessionOptionsTest, ChecksFieldsOfOptions) {
  const auto universal = [](const char* size_ratio) {
    return nlohmann::json{{"cf",
                           {{"compaction_options_universal.size_ratio", size_ratio},
                            {"compaction_options_universal.min_merge_width", "4"}}}};
  };
  const nlohmann::json reply = Send({{"command", "check_options"}, {"options", universal("50")}});
  const std::string read = reply.at("options").at("cf").at("compaction_options_universal");
  EXPECT_NE(read.find("size_ratio=50;"), std::string::npos) << read;
  EXPECT_NE(read.find("min_merge_width=4;"), std::string::npos) << read;
  ExpectError(Send({{"command", "check_options"}, {"options", universal("-1")}}), "invalid", "size_ratio");
}

TEST_F(SessionOptionsTest, ChecksOptionsOfFamilies) {
  const nlohmann::json reply = Send(
      {{"command", "check_options"}, {"options", {{"cf", {{"num_levels", "5"}}}, {"cf:a", {{"ttl", "9"}}}}}});
  EXPECT_EQ(reply.at("options").at("cf:a").at("num_levels"), "5");
  EXPECT_EQ(reply.at("options").at("cf:a").at("ttl"), "9");
}

TEST_F(SessionOptionsTest, ExaminesOptionsOneByOneAndOpensNothingOnDisk) {
  const nlohmann::json given = {{"cf", {{"write_buffer_size", "1000"}, {"num_levels", "0x5"}, {"gone", "1"}}},
                                {"db", {{"wal_dir", "/nowhere/wal"}}}};
  const nlohmann::json reply = Send({{"command", "examine_options"}, {"options", given}});
  ASSERT_EQ(reply.at("event"), "examined") << reply;
  EXPECT_TRUE(reply.at("refused").at("cf").contains("gone")) << reply;
  EXPECT_EQ(reply.at("misread").at("cf").at("num_levels"), "0");
  EXPECT_EQ(reply.at("parsed").at("cf").at("write_buffer_size"), "1000");
  EXPECT_EQ(reply.at("opened").at("cf").at("write_buffer_size"), "65536");
  EXPECT_EQ(reply.at("open_error"), "");
  ExpectError(Send({{"command", "examine_options"}, {"options", {{"governor", {{"mode", "toggle"}}}}}}),
              "invalid", "RocksDB's own");
}

TEST_F(SessionOptionsTest, NamesTheOptionsThatAnOpenDatabaseTakes) {
  const nlohmann::json reply = Send({{"command", "mutable_options"}});
  ASSERT_EQ(reply.at("event"), "mutable") << reply;
  const auto has = [&](const char* section, const char* name) {
    return std::ranges::count(reply.at(section), nlohmann::json(name)) == 1;
  };
  EXPECT_TRUE(has("db", "max_background_jobs"));
  EXPECT_TRUE(has("cf", "write_buffer_size"));
  EXPECT_FALSE(has("cf", "num_levels"));
  EXPECT_TRUE(reply.at("table").is_array());
}

TEST_F(SessionOptionsTest, TriesAWatchedFile) {
  const nlohmann::json present = {{"db", {{"max_background_jobs", "3"}}},
                                  {"cf:default", {{"level0_slowdown_writes_trigger", "20"}}},
                                  {"cf:second", {{"level0_slowdown_writes_trigger", "30"}}}};
  const auto refused = [&](const std::string& text) {
    const nlohmann::json reply =
        Send({{"command", "try_watched"}, {"present", present}, {"text", WatchedText(text)}});
    EXPECT_EQ(reply.at("event"), "watched_tried") << reply;
    return reply.at("refused").get<std::string>();
  };
  const std::string trigger = "level0_file_num_compaction_trigger=25\n";
  EXPECT_EQ(refused("[CFOptions \"second\"]\n" + trigger), "");
  EXPECT_NE(refused("[CFOptions \"default\"]\n" + trigger).find("level0_slowdown_writes_trigger must not"),
            std::string::npos);
  EXPECT_NE(refused("[CFOptions \"third\"]\n" + trigger).find("no such column family"), std::string::npos);
  EXPECT_EQ(refused("[DBOptions]\nmax_background_jobs=8\n"), "");
  EXPECT_NE(refused("[CFOptions \"default\"]\nnum_levels=3\n").find("num_levels"), std::string::npos);
  ExpectError(Send({{"command", "try_watched"},
                    {"present", {{"cf:default", {{"num_levels", "0x5"}}}}},
                    {"text", WatchedText("")}}),
              "invalid", "num_levels");
}

TEST_F(SessionOptionsTest, NamesTheOptionThatRocksDbRefuses) {
  open_["options"]["cf"]["num_levels"] = "0";
  open_["options"]["cf"]["compaction_style"] = "kCompactionStyleUniversal";
  open_["options"]["db"]["unordered_write"] = "true";
  open_["options"]["db"]["allow_concurrent_memtable_write"] = "false";
  ExpectError(Send(open_), "invalid", "unordered_write");
}

TEST_F(SessionOptionsTest, RefusesMemoryMappedReads) {
  open_["options"]["db"]["allow_mmap_reads"] = "true";
  ExpectError(Send(open_), "invalid", "allow_mmap_reads");
}

TEST_F(SessionOptionsTest, RefusesAnInvalidLayout) {
  open_["options"]["flsm"] = {{"policy_1", "5"}, {"size_ratio", "4"}};
  ExpectError(Send(open_), "invalid", "policies");
}

TEST_F(SessionOptionsTest, RefusesAnInvalidGovernor) {
  open_["options"]["governor"] = {{"mode", "toggle"}};
  nlohmann::json open = open_;
  open["device"] = {{"name", "none"}};
  ExpectError(Send(open), "invalid", "device_bytes_per_s");
  StartSession();
  open = open_;
  open["options"]["db"]["rate_limiter_bytes_per_sec"] = "1000000";
  ExpectError(Send(open), "invalid", "rate_limiter_bytes_per_sec");
  StartSession();
  open = open_;
  open["options"]["governor"]["debt_runs"] = "5";
  ExpectError(Send(open), "invalid", "debt_runs");
  StartSession();
  ExpectError(Send({{"command", "check_options"}, {"options", {{"governor", {{"speed", "1"}}}}}}), "invalid",
              "'speed'");
}

TEST_F(SessionOptionsTest, RefusesAGovernorForAnFlsmStore) {
  open_["options"]["governor"] = {{"mode", "toggle"}};
  open_["options"]["flsm"] = {{"policy_1", "4"}, {"size_ratio", "4"}};
  ExpectError(Send(open_), "invalid", "only leveled and universal compaction");
}

}  // namespace
}  // namespace rocktune
