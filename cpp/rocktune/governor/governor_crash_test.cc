// A governed database loses no acknowledged write when its process is killed, and no synced write when the
// power fails. It keeps its options too, although it is always opened with those of its OPTIONS file.

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/utilities/options_util.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/compaction_governor.h"
#include "rocktune/governor/governed_options.h"
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
  options.level0_slowdown_writes_trigger = 8;  // so that level-0 tables are merged with each other
  return options;
}

rocksdb::Options LatestOptions(rocksdb::Env* env, const std::string& directory) {
  if (!std::filesystem::exists(directory + "/CURRENT")) {
    return SmallOptions(env);
  }
  rocksdb::ConfigOptions config;
  config.env = env;
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  const rocksdb::Status status = rocksdb::LoadLatestOptions(config, directory, &db_options, &families);
  EXPECT_TRUE(status.ok()) << status.ToString();
  rocksdb::Options options(db_options, families.at(0).options);
  options.env = env;
  return options;
}

std::unique_ptr<CompactionGovernor> CreateGovernor(const std::string& mode) {
  GovernorOptions options;
  options.mode = mode == "toggle" ? GovernorMode::kToggle : GovernorMode::kProportional;
  options.device_bytes_per_s = 20'000'000;  // so low that compactions are switched off and limited
  options.interval_us = 10'000;
  options.debt_runs = 60;
  std::unique_ptr<CompactionGovernor> governor;
  EXPECT_TRUE(CompactionGovernor::Create(options, &governor).ok());
  return governor;
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

  // How the next process restores the options; kNone leaves that to the one after it.
  enum class Way { kRecover, kDetach, kNone };

  void ExpectNothingLost(Way way) {
    // The recovery's own writes must survive the next power cut too.
    const std::unique_ptr<rocksdb::Env> env =
        rocksdb::NewCompositeEnv(std::make_shared<SyncTrackingFileSystem>());
    std::unique_ptr<rocksdb::DB> db;
    const std::unique_ptr<CompactionGovernor> governor = CreateGovernor(of_.variant);
    rocksdb::Options options = LatestOptions(env.get(), of_.directory);
    governor->Prepare(&options);
    const rocksdb::Status status = OpenDatabase(options, of_.directory, &db);
    ASSERT_TRUE(status.ok()) << status.ToString();
    if (way == Way::kRecover) {
      ASSERT_TRUE(CompactionGovernor::Recover(db.get()).ok());
    } else if (way == Way::kDetach) {
      ASSERT_TRUE(governor->Attach(db.get()).ok());
      ASSERT_TRUE(governor->Detach(db.get(), std::chrono::minutes(1)).ok());
    }
    if (way != Way::kNone) {
      EXPECT_EQ(GovernedOptionsOf(db->GetOptions()), GovernedOptionsOf(SmallOptions(env.get())));
    }
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
  for (int kill = 0; kill < KillCount(); ++kill) {
    // A sync may take 10 ms, so fewer writes before each kill.
    const uint64_t when = (kFirstKill + kill * kBetweenKills) / (of_.synced ? 4 : 1);
    ASSERT_EQ(RunAndKill(of_, "GovernorCrashChild.DISABLED_WritesUntilItIsKilled", when), "");
    if (of_.synced) {
      SyncTrackingFileSystem::CutPower(of_.directory);
    }
    ExpectNothingLost(static_cast<Way>(kill % 3));
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
  const std::unique_ptr<CompactionGovernor> governor = CreateGovernor(of.variant);
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<SyncTrackingFileSystem>());
  rocksdb::Options options = LatestOptions(env.get(), of.directory);
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
