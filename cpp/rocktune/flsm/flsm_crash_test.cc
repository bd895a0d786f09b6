// An FLSM store whose process is killed at any moment, while its shape changes, loses nothing that it has
// acknowledged, and one whose machine loses power nothing that it has synced.

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>

#include "rocktune/flsm/flsm_store.h"
#include "rocktune/util/fake_crash.h"
#include "rocktune/util/fake_power_cut.h"

namespace rocktune {
namespace {

constexpr uint64_t kFirstKill = 2000;
constexpr uint64_t kBetweenKills = 700;
constexpr uint64_t kChangesPolicyAfter = 97;
constexpr int kSizeRatio = 3;
constexpr const char* kLatest = "latest";

constexpr const char* kFiles = "files";

// `of.what` is the granularity.
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
  layout.granularity = of.what == kFiles ? FlsmGranularity::kFiles : FlsmGranularity::kLevels;
  return FlsmStore::Open(options, layout, of.directory, store);
}

class FlsmCrashTest : public testing::TestWithParam<std::tuple<bool, const char*>> {
 protected:
  ~FlsmCrashTest() override {
    std::filesystem::remove_all(of_.directory);
    std::filesystem::remove(Acknowledged::Path(of_));
  }

  void ExpectNothingLost() {
    const std::unique_ptr<rocksdb::Env> env =
        rocksdb::NewCompositeEnv(std::make_shared<SyncNotingFileSystem>());
    std::unique_ptr<FlsmStore> store;
    const rocksdb::Status status = OpenSmall(env.get(), of_, &store);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(Broken(store->Shape()), "");
    const uint64_t count = *Acknowledged(of_);
    std::string value;
    for (uint64_t number = 0; number < count; ++number) {
      ASSERT_TRUE(store->Get(rocksdb::ReadOptions(), ScatteredKey(number), &value).ok())
          << number << " of " << count << ", " << ToText(store->Shape());
    }
    // The write during which it was killed may be there or not.
    ASSERT_TRUE(store->Get(rocksdb::ReadOptions(), kLatest, &value).ok());
    EXPECT_GE(std::stoull(value) + 1, count);
    EXPECT_LE(std::stoull(value), count);
  }

  const CrashCase of_ = {testing::TempDir() + "flsm-crash-" + std::to_string(getpid()),
                         std::get<1>(GetParam()), std::get<0>(GetParam())};
};

TEST_P(FlsmCrashTest, LosesNothing) {
  std::filesystem::remove_all(of_.directory);
  std::filesystem::remove(Acknowledged::Path(of_));
  uint64_t when = kFirstKill / (of_.synced ? 4 : 1);
  for (int kill = 0; kill < Kills() && !HasFatalFailure(); ++kill) {
    ASSERT_EQ(RunAndKill(of_, "FlsmCrashChild.DISABLED_WritesUntilItIsKilled", when), "");
    if (of_.synced) {
      SyncNotingFileSystem::CutPower(of_.directory);
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
      rocksdb::NewCompositeEnv(std::make_shared<SyncNotingFileSystem>());
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
      const auto transition = of.what == kFiles ? FlsmTransition::kFlexible  // a lazy one is refused
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
