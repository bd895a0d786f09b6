// An FLSM store whose shape changes loses no acknowledged write when its process is killed, and no synced
// write when the power fails.

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/options_util.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/flsm_store.h"
#include "rocktune/util/fake_crash.h"
#include "rocktune/util/fake_power_cut.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr uint64_t kFirstKill = 2000;  // in writes
constexpr uint64_t kBetweenKills = 700;
constexpr uint64_t kChangesPolicyAfter = 97;
constexpr int kSizeRatio = 3;
constexpr const char* kLatest = "latest";

constexpr const char* kFiles = "files";

// Opens the store of a case; `of.variant` names the granularity.
rocksdb::Status OpenSmall(rocksdb::Env* env, const CrashCase& of, std::unique_ptr<FlsmStore>* store) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.env = env;
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 64 << 10;
  options.compression = rocksdb::kNoCompression;
  FlsmOptions layout;
  layout.size_ratio = kSizeRatio;
  layout.policies = {3, 2, 1};
  layout.granularity = of.variant == kFiles ? FlsmGranularity::kFiles : FlsmGranularity::kLevels;
  return FlsmStore::Open(options, layout, of.directory, store);
}

class FlsmCrashTest : public testing::TestWithParam<std::tuple<bool, const char*>> {
 protected:
  ~FlsmCrashTest() override {
    std::filesystem::remove_all(of_.directory);
    std::filesystem::remove_all(copy_);
    std::filesystem::remove(Acknowledged::Path(of_));
  }

  // Opens the database with the options of its OPTIONS file, as some programs do, and closes it.
  void OpenByItsOptions(rocksdb::Env* env) {
    rocksdb::ConfigOptions config;
    config.env = env;
    rocksdb::DBOptions options;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    rocksdb::Status status = rocksdb::LoadLatestOptions(config, of_.directory, &options, &families);
    ASSERT_TRUE(status.ok()) << status.ToString();
    options.env = env;
    std::unique_ptr<rocksdb::DB> db;
    status = OpenDatabase(rocksdb::Options(options, families.front().options), of_.directory, &db);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  // Expects that a checkpoint of the store is a store with the same entries. Not after a power cut, whose
  // simulation does not support hard links.
  void ExpectCopyToHoldAll(FlsmStore* store) {
    std::filesystem::remove_all(copy_);
    rocksdb::Checkpoint* raw = nullptr;
    ASSERT_TRUE(rocksdb::Checkpoint::Create(store, &raw).ok());
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
    const rocksdb::Status made = checkpoint->CreateCheckpoint(copy_, uint64_t{1} << 40);
    ASSERT_TRUE(made.ok()) << made.ToString();
    std::unique_ptr<FlsmStore> copy;
    const rocksdb::Status status =
        OpenSmall(rocksdb::Env::Default(), {copy_, of_.variant, of_.synced}, &copy);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(Violation(copy->Shape()), "");
    ExpectAll(copy.get());
  }

  void ExpectNothingLost() {
    const std::unique_ptr<rocksdb::Env> env =
        rocksdb::NewCompositeEnv(std::make_shared<SyncTrackingFileSystem>());
    OpenByItsOptions(env.get());
    std::unique_ptr<FlsmStore> store;
    const rocksdb::Status status = OpenSmall(env.get(), of_, &store);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ExpectAll(store.get());
    if (!of_.synced && !HasFatalFailure()) {
      ExpectCopyToHoldAll(store.get());
    }
  }

  void ExpectAll(FlsmStore* store) {
    EXPECT_EQ(Violation(store->Shape()), "");
    const uint64_t count = *Acknowledged(of_);
    std::string value;
    for (uint64_t number = 0; number < count; ++number) {
      ASSERT_TRUE(store->Get(rocksdb::ReadOptions(), ScatteredKey(number), &value).ok())
          << number << " of " << count << ", " << ToText(store->Shape());
    }
    // The write in progress at the kill may have survived or not.
    ASSERT_TRUE(store->Get(rocksdb::ReadOptions(), kLatest, &value).ok());
    EXPECT_GE(std::stoull(value) + 1, count);
    EXPECT_LE(std::stoull(value), count);
  }

  const std::string copy_ = testing::TempDir() + "flsm-crash-copy-" + std::to_string(getpid());
  const CrashCase of_ = {testing::TempDir() + "flsm-crash-" + std::to_string(getpid()),
                         std::get<1>(GetParam()), std::get<0>(GetParam())};
};

TEST_P(FlsmCrashTest, LosesNothing) {
  std::filesystem::remove_all(of_.directory);
  std::filesystem::remove(Acknowledged::Path(of_));
  uint64_t when = kFirstKill / (of_.synced ? 4 : 1);
  for (int kill = 0; kill < KillCount() && !HasFatalFailure(); ++kill) {
    ASSERT_EQ(RunAndKill(of_, "FlsmCrashChild.DISABLED_WritesUntilItIsKilled", when), "");
    if (of_.synced) {
      SyncTrackingFileSystem::CutPower(of_.directory);
    }
    ExpectNothingLost();
    when = *Acknowledged(of_) + kBetweenKills / (of_.synced ? 4 : 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, FlsmCrashTest,
                         testing::Combine(testing::Bool(), testing::Values("levels", kFiles)),
                         [](const testing::TestParamInfo<std::tuple<bool, const char*>>& each) {
                           return std::string(std::get<0>(each.param) ? "PowerCut_" : "Killed_") +
                                  std::get<1>(each.param);
                         });

TEST(FlsmCrashChild, DISABLED_WritesUntilItIsKilled) {
  CrashCase of;
  if (!ReadCrashCase(&of)) {
    GTEST_SKIP() << "is started by FlsmCrashTest";
  }
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<SyncTrackingFileSystem>());
  std::unique_ptr<FlsmStore> store;
  ASSERT_TRUE(OpenSmall(env.get(), of, &store).ok());
  rocksdb::WriteOptions write;
  write.sync = of.synced;
  Acknowledged acknowledged(of);
  for (uint64_t number = *acknowledged;; ++number) {
    rocksdb::WriteBatch batch;
    ASSERT_TRUE(batch.Put(ScatteredKey(number), std::string(500, 'v')).ok());
    ASSERT_TRUE(batch.Put(kLatest, std::to_string(number)).ok());
    ASSERT_TRUE(store->Write(write, &batch).ok());
    *acknowledged = number + 1;
    if (number % kChangesPolicyAfter == 0) {
      const uint64_t change = number / kChangesPolicyAfter;
      const auto transition = of.variant == kFiles
                                  ? FlsmTransition::kFlexible  // with files a lazy change is refused
                                  : static_cast<FlsmTransition>(change % 3);
      ASSERT_TRUE(store
                      ->SetPolicy(1 + static_cast<int>(change % 4), 1 + static_cast<int>(change % kSizeRatio),
                                  transition)
                      .ok());
    }
  }
}

}  // namespace
}  // namespace rocktune
