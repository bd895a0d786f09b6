// A governed store whose process is killed at any moment loses nothing that it has acknowledged, and one
// whose machine loses power nothing that it has synced.

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "rocktune/governor/compaction_governor.h"
#include "rocktune/util/fake_crash.h"
#include "rocktune/util/fake_power_cut.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr uint64_t kFirstKill = 3000;
constexpr uint64_t kBetweenKills = 1700;

struct Case {
  GovernorMode mode;
  bool synced;
};

rocksdb::Options SmallOptions(rocksdb::Env* env) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.env = env;
  options.write_buffer_size = 256 << 10;
  options.target_file_size_base = 256 << 10;
  options.max_bytes_for_level_base = 1 << 20;
  options.max_background_jobs = 4;
  options.level0_slowdown_writes_trigger = 8;  // so that level 0 is merged within itself
  return options;
}

class GovernorCrashTest : public testing::TestWithParam<Case> {
 protected:
  GovernorCrashTest() {
    std::filesystem::remove_all(of_.directory);
    std::filesystem::create_directories(of_.directory);
    std::filesystem::remove(Acknowledged::Path(of_));
  }
  ~GovernorCrashTest() override {
    std::filesystem::remove_all(of_.directory);
    std::filesystem::remove(Acknowledged::Path(of_));
  }

  void ExpectNothingLost() {
    // What recovery writes has to survive the next time too.
    const std::unique_ptr<rocksdb::Env> env =
        rocksdb::NewCompositeEnv(std::make_shared<SyncNotingFileSystem>());
    std::unique_ptr<rocksdb::DB> db;
    const rocksdb::Status status = OpenDatabase(SmallOptions(env.get()), of_.directory, &db);
    ASSERT_TRUE(status.ok()) << status.ToString();
    const uint64_t count = *Acknowledged(of_);
    std::string value;
    for (uint64_t number = 0; number < count; ++number) {
      ASSERT_TRUE(db->Get(rocksdb::ReadOptions(), ScatteredKey(number), &value).ok())
          << number << " of " << count;
    }
  }

  const CrashCase of_ = {testing::TempDir() + "governor-crash-" + std::to_string(getpid()),
                         GetParam().mode == GovernorMode::kToggle ? "toggle" : "proportional",
                         GetParam().synced};
};

TEST_P(GovernorCrashTest, LosesNothing) {
  for (int kill = 0; kill < Kills(); ++kill) {
    // A sync may take ten milliseconds.
    const uint64_t when = (kFirstKill + kill * kBetweenKills) / (of_.synced ? 4 : 1);
    ASSERT_EQ(RunAndKill(of_, "GovernorCrashChild.DISABLED_WritesUntilItIsKilled", when), "");
    if (of_.synced) {
      SyncNotingFileSystem::CutPower(of_.directory);
    }
    ExpectNothingLost();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes, GovernorCrashTest,
    testing::Values(Case{GovernorMode::kToggle, false}, Case{GovernorMode::kToggle, true},
                    Case{GovernorMode::kProportional, false}, Case{GovernorMode::kProportional, true}),
    [](const testing::TestParamInfo<Case>& each) {
      return std::string(each.param.mode == GovernorMode::kToggle ? "Toggle" : "Proportional") +
             (each.param.synced ? "PowerCut" : "Killed");
    });

TEST(GovernorCrashChild, DISABLED_WritesUntilItIsKilled) {
  CrashCase of;
  if (!ReadCrashCase(&of)) {
    GTEST_SKIP() << "is started by GovernorCrashTest";
  }
  GovernorOptions governing;
  governing.mode = of.what == "toggle" ? GovernorMode::kToggle : GovernorMode::kProportional;
  governing.device_bytes_per_s = 20'000'000;  // little enough to toggle and to wait for
  governing.interval_us = 10'000;
  governing.debt_runs = 60;
  std::unique_ptr<CompactionGovernor> governor;
  ASSERT_TRUE(CompactionGovernor::Create(governing, &governor).ok());
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<SyncNotingFileSystem>());
  rocksdb::Options options = SmallOptions(env.get());
  governor->Prepare(&options);
  std::unique_ptr<rocksdb::DB> db;
  ASSERT_TRUE(OpenDatabase(options, of.directory, &db).ok());
  ASSERT_TRUE(governor->Attach(db.get()).ok());
  rocksdb::WriteOptions write;
  write.sync = of.synced;
  Acknowledged acknowledged(of);
  for (uint64_t number = *acknowledged;; ++number) {
    ASSERT_TRUE(db->Put(write, ScatteredKey(number), std::string(1000, 'v')).ok());
    *acknowledged = number + 1;
  }
}

}  // namespace
}  // namespace rocktune
