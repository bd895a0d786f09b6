#include "worker/session.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "rocktune/util/rocksdb_compat.h"
#include "worker/session_fixture.h"

namespace rocktune {
namespace {

TEST_F(SessionTest, HelloHasTheVersions) {
  const nlohmann::json hello = Session::Hello();
  EXPECT_EQ(hello.at("event"), "hello");
  EXPECT_EQ(hello.at("protocol"), 7);
  EXPECT_EQ(hello.at("rocksdb_version"), RocksDbVersion());
  EXPECT_TRUE(hello.at("assertions").is_boolean());
  EXPECT_EQ(hello.at("compressions").at(0), "kNoCompression");
}

TEST_F(SessionTest, ChangesPoliciesOfAnFlsmStoreBetweenMissions) {
  open_["options"]["flsm"] = {{"size_ratio", "4"}, {"policy_1", "1"}};
  open_["workload"]["preload"] = {{"keys", 0}};
  ASSERT_EQ(Send(open_).at("event"), "opened");
  const nlohmann::json first = Send({{"command", "advance"}, {"until_s", 3600.0}, {"operations", 2000}});
  ASSERT_EQ(first.at("event"), "measurement") << first;
  EXPECT_LT(first.at("until_s"), 3600.0);
  EXPECT_EQ(first.at("flsm").at("levels").at(0).at("policy"), 1);
  EXPECT_EQ(Send({{"command", "set_policy"}, {"level", 1}, {"policy", 3}, {"transition", "flexible"}}),
            nlohmann::json({{"event", "policy_set"}}));
  const nlohmann::json second = Send({{"command", "advance"}, {"until_s", 3600.0}, {"operations", 2000}});
  EXPECT_EQ(second.at("from_s"), first.at("until_s"));
  EXPECT_EQ(second.at("flsm").at("levels").at(0).at("policy"), 3);
  ExpectError(Send({{"command", "set_policy"}, {"level", 1}, {"policy", 9}, {"transition", "flexible"}}),
              "invalid", "policy 9 is not from 1 to 4");
}

TEST_F(SessionTest, OnlyAnFlsmStoreHasPolicies) {
  Send(open_);
  ExpectError(Send({{"command", "set_policy"}, {"level", 1}, {"policy", 2}, {"transition", "flexible"}}),
              "invalid", "is not an FLSM store");
}

TEST_F(SessionTest, RunsAStore) {
  const nlohmann::json opened = Send(open_);
  ASSERT_EQ(opened.at("event"), "opened") << opened;
  EXPECT_EQ(opened.at("options").at("table").at("block_cache"), "1048576");
  EXPECT_EQ(Send({{"command", "load"}}).at("keys"), 500);
  const nlohmann::json first = Send({{"command", "advance"}, {"until_s", 0.1}});
  ASSERT_EQ(first.at("event"), "measurement") << first;
  EXPECT_EQ(first.at("from_s"), 0.0);
  EXPECT_GT(first.at("operations").at("put").at("count"), 0);
  EXPECT_GE(first.at("live_keys"), 500);
  EXPECT_GT(first.at("device_bytes").at("wal"), 0);
  EXPECT_GT(Send({{"command", "park"}}).at("resident_bytes"), 0);
  const nlohmann::json second = Send({{"command", "advance"}, {"until_s", 0.2}});
  EXPECT_EQ(second.at("from_s"), 0.1);
  EXPECT_GE(second.at("live_keys"), first.at("live_keys"));
  EXPECT_EQ(Send({{"command", "close"}, {"keep", true}}).at("event"), "closed");
  EXPECT_EQ(next_, Session::Next::kEnd);
}

TEST_F(SessionTest, GovernsAStore) {
  open_["options"]["governor"] = {{"mode", "toggle"}, {"interval_us", "10000"}, {"debt_runs", "50"}};
  open_["options"]["cf"]["level0_slowdown_writes_trigger"] = "30";
  const nlohmann::json opened = Send(open_);
  ASSERT_EQ(opened.at("event"), "opened") << opened;
  const nlohmann::json& governor = opened.at("options").at("governor");
  EXPECT_EQ(governor.at("device_bytes_per_s"), "50000000") << "the device's bandwidth is the default";
  EXPECT_EQ(governor.at("max_flush_bytes_per_s"), "25000000");
  EXPECT_EQ(opened.at("options").at("cf").at("level0_slowdown_writes_trigger"), "30")
      << "not the governor's trigger";
  Send({{"command", "load"}});
  const nlohmann::json window = Send({{"command", "advance"}, {"until_s", 0.2}});
  EXPECT_GT(window.at("governor").at("intervals"), 5) << window;
  EXPECT_EQ(window.at("governor").at("failed_changes"), 0);
  EXPECT_EQ(Send({{"command", "close"}, {"keep", true}}).at("event"), "closed");
}

TEST_F(SessionTest, LoadsAnFlsmStore) {
  open_["options"]["flsm"] = {{"policy_1", "4"}, {"policy_2", "2"}, {"policy_3", "1"}, {"size_ratio", "4"}};
  open_["options"]["cf"]["write_buffer_size"] = "65536";
  const nlohmann::json opened = Send(open_);
  ASSERT_EQ(opened.at("event"), "opened") << opened;
  EXPECT_EQ(opened.at("options").at("flsm").at("policy_2"), "2");
  Send({{"command", "load"}});
  const nlohmann::json window = Send({{"command", "advance"}, {"until_s", 0.2}});
  EXPECT_GT(window.at("operations").at("put").at("count"), 0);
  EXPECT_GT(window.at("level_bytes").size(), 12) << "a physical level for each run";
  EXPECT_EQ(Send({{"command", "close"}, {"keep", true}}).at("event"), "closed");
}

TEST_F(SessionTest, ContinuesWithAKeptStore) {
  Send(open_);
  Send({{"command", "load"}});
  Send({{"command", "close"}, {"keep", true}});
  StartSession();
  Send(open_);
  const nlohmann::json window = Send({{"command", "advance"}, {"until_s", 0.05}});
  ASSERT_EQ(window.at("event"), "measurement") << window;
  EXPECT_GE(window.at("live_keys"), 500);  // the preload of the kept store
  EXPECT_GT(window.at("operations").at("get").at("found"), 0);
}

TEST_F(SessionTest, RefusesCommandsInTheWrongState) {
  ExpectError(Send({{"command", "load"}}), "invalid", "no run is open");
  ExpectError(Send({{"command", "advance"}, {"until_s", 1}}), "invalid", "no run is open");
  Send(open_);
  ExpectError(Send(open_), "invalid", "'open'");
  Send({{"command", "advance"}, {"until_s", 0.01}});
  ExpectError(Send({{"command", "load"}}), "invalid", "before the first advance");
  ExpectError(Send({{"command", "advance"}, {"until_s", 0.01}}), "invalid", "until_s");
}

TEST_F(SessionTest, RefusesMalformedCommands) {
  ExpectError(SendLine("{"), "invalid", "malformed");
  ExpectError(SendLine("[]"), "invalid", "malformed");
  ExpectError(SendLine("\xff\xfe"), "invalid", "malformed");
  ExpectError(Send({{"command", "fly"}}), "invalid", "'fly'");
  ExpectError(Send({{"command", "check_options"}}), "invalid", "'options'");
  ExpectError(Send({{"command", "check_options"}, {"options", nlohmann::json::object()}, {"extra", 1}}),
              "invalid", "'extra'");
  nlohmann::json open = open_;
  open["seed"] = -1;
  ExpectError(Send(open), "invalid", "seed");
  open = open_;
  open["workload"]["threads"] = 0;
  ExpectError(Send(open), "invalid", "threads");
  open = open_;
  open["device"]["speed"] = 1;
  ExpectError(Send(open), "invalid", "speed");
  open = open_;
  open["options"]["cf"]["comparator"] = "my.Comparator";
  ExpectError(Send(open), "invalid", "my.Comparator");
}

TEST_F(SessionTest, AFullDeviceIsOutOfDisk) {
  open_["device"]["capacity_bytes"] = 300'000;
  Send(open_);
  ExpectError(Send({{"command", "advance"}, {"until_s", 3600}}), "out_of_disk", "");
}

TEST_F(SessionTest, AnUnwritableDirectoryIsACrash) {
  std::ofstream(directory_ / "file") << "a file where a directory is needed";
  open_["directory"] = (directory_ / "file" / "db").string();
  ExpectError(Send(open_), "crashed", "opening the store failed");
}

TEST_F(SessionTest, ReportsMemoryBeyondTheLimit) {
  open_["memory_limit_bytes"] = 1000;
  Send(open_);
  while (overrun_ == RunFailure::kInvalid) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(overrun_, RunFailure::kOutOfMemory);
}

TEST_F(SessionTest, ReportsDiskBeyondTheLimit) {
  open_["disk_limit_bytes"] = 1000;
  Send(open_);
  Send({{"command", "advance"}, {"until_s", 0.1}});
  while (overrun_ == RunFailure::kInvalid) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(overrun_, RunFailure::kOutOfDisk);
}

TEST_F(SessionTest, RunsSeveralFamilies) {
  open_["workload"]["families"] = {
      {{"name", "users"}, {"keys", 1000}, {"share", 0.5}, {"preload", {{"keys", 500}}}},
      {{"name", "index"}, {"keys", 100}, {"share", 0.5}, {"mix", {{"put", 1}}}}};
  open_["options"]["cf:index"] = {{"write_buffer_size", "128K"}};
  open_["options"]["cf:idle"] = {{"num_levels", "3"}};
  const nlohmann::json options = Send(open_).at("options");
  EXPECT_EQ(options.at("cf:users").at("write_buffer_size"), "65536");
  EXPECT_EQ(options.at("cf:index").at("write_buffer_size"), "131072");
  EXPECT_EQ(options.at("cf:idle").at("num_levels"), "3");
  EXPECT_TRUE(options.contains("table:default"));
  EXPECT_FALSE(options.contains("cf"));
  EXPECT_EQ(Send({{"command", "load"}}).at("keys"), 500);
  const nlohmann::json window = Send({{"command", "advance"}, {"until_s", 0.3}});
  const nlohmann::json& families = window.at("families");
  EXPECT_EQ(families.size(), 2U);
  EXPECT_EQ(families.at("index").at("operations").size(), 1U);
  EXPECT_GE(families.at("users").at("live_keys"), 500);
  EXPECT_EQ(Send({{"command", "close"}, {"keep", true}}).at("event"), "closed");
  StartSession();
  EXPECT_EQ(Send(open_).at("event"), "opened");  // a base of these families
}

TEST_F(SessionTest, AnFlsmStoreHasOneFamily) {
  open_["workload"]["families"] = {{{"name", "users"}, {"keys", 1000}}};
  open_["options"]["flsm"] = {{"policy_1", "4"}, {"policy_2", "2"}, {"size_ratio", "4"}};
  ExpectError(Send(open_), "invalid", "an FLSM store has the default column family alone");
}

}  // namespace
}  // namespace rocktune
