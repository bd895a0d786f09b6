// An FLSM store whose shape changes loses no acknowledged write when its process is killed, and no synced
// write when the power fails.

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/options_util.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
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
constexpr const char* kFamilies = "families";
constexpr uint64_t kMakesFamilyAfter = 331;
constexpr const char* kShortLived = "short-lived";  // a family that is created and dropped again and again

rocksdb::Options SmallOptions(rocksdb::Env* env) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.env = env;
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 64 << 10;
  options.compression = rocksdb::kNoCompression;
  return options;
}

FlsmOptions SmallLayout(const CrashCase& of) {
  FlsmOptions layout;
  layout.size_ratio = kSizeRatio;
  layout.policies = {3, 2, 1};
  layout.max_merge_bytes = 128 << 10;
  layout.granularity = of.variant == kFiles ? FlsmGranularity::kFiles : FlsmGranularity::kLevels;
  return layout;
}

// A store with the handles of its families, by name.
struct OpenedStore {
  std::unique_ptr<FlsmStore> store;
  std::map<std::string, rocksdb::ColumnFamilyHandle*> families;
};

// Opens the store of a case, with the families that it has and those of `more`; `of.variant` names the
// granularity, or that there are families.
rocksdb::Status OpenSmall(rocksdb::Env* env, const CrashCase& of, const std::vector<std::string>& more,
                          OpenedStore* opened) {
  rocksdb::Options options = SmallOptions(env);
  options.create_missing_column_families = true;
  std::vector<std::string> names;
  // Fails if there is no store yet.
  rocksdb::DB::ListColumnFamilies(options, of.directory, &names).PermitUncheckedError();
  std::set<std::string> all(names.begin(), names.end());
  all.insert(rocksdb::kDefaultColumnFamilyName);
  all.insert(more.begin(), more.end());
  std::vector<FlsmFamily> families;
  for (const std::string& name : all) {
    families.push_back({name, options, SmallLayout(of)});
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status = FlsmStore::Open(options, of.directory, families, &handles, &opened->store);
  for (std::size_t family = 0; family < handles.size() && status.ok(); ++family) {
    opened->families[families[family].name] = handles[family];
  }
  return status;
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
    // A kill may have come before the newest family's options were written.
    std::vector<std::string> names;
    ASSERT_TRUE(rocksdb::DB::ListColumnFamilies(options, of_.directory, &names).ok());
    std::map<std::string, rocksdb::ColumnFamilyOptions> by_name;
    for (const rocksdb::ColumnFamilyDescriptor& family : families) {
      by_name[family.name] = family.options;
    }
    families.clear();
    for (const std::string& name : names) {
      families.emplace_back(name, by_name.contains(name) ? by_name[name] : by_name["default"]);
    }
    std::unique_ptr<rocksdb::DB> db;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    status = OpenColumnFamilies(options, of_.directory, families, &handles, &db);
    ASSERT_TRUE(status.ok()) << status.ToString();
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
    }
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
    OpenedStore copy;
    const rocksdb::Status status =
        OpenSmall(rocksdb::Env::Default(), {copy_, of_.variant, of_.synced}, {}, &copy);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ExpectAll(copy);
  }

  void ExpectNothingLost() {
    const std::unique_ptr<rocksdb::Env> env =
        rocksdb::NewCompositeEnv(std::make_shared<SyncTrackingFileSystem>());
    OpenByItsOptions(env.get());
    OpenedStore opened;
    const rocksdb::Status status = OpenSmall(env.get(), of_, {}, &opened);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ExpectAll(opened);
    if (!of_.synced && !HasFatalFailure()) {
      ExpectCopyToHoldAll(opened.store.get());
    }
  }

  void ExpectAll(const OpenedStore& opened) {
    EXPECT_EQ(opened.families.size() - opened.families.count(kShortLived),
              of_.variant == kFamilies ? 3u : 1u);
    std::set<std::string> latest;
    for (const auto& [name, family] : opened.families) {
      EXPECT_EQ(Violation(opened.store->Shape(family)), "") << name;
      if (name != kShortLived && !HasFatalFailure()) {
        ExpectAll(opened.store.get(), family, &latest);
      }
    }
    EXPECT_EQ(latest.size(), 1u) << "a batch is in all families or in no one";
  }
  void ExpectAll(FlsmStore* store, rocksdb::ColumnFamilyHandle* family, std::set<std::string>* latest) {
    const uint64_t count = *Acknowledged(of_);
    std::string value;
    for (uint64_t number = 0; number < count; ++number) {
      ASSERT_TRUE(store->Get(rocksdb::ReadOptions(), family, ScatteredKey(number), &value).ok())
          << number << " of " << count << ", " << ToText(store->Shape(family));
    }
    // The write in progress at the kill may have survived or not.
    ASSERT_TRUE(store->Get(rocksdb::ReadOptions(), family, kLatest, &value).ok());
    EXPECT_GE(std::stoull(value) + 1, count);
    EXPECT_LE(std::stoull(value), count);
    latest->insert(value);
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
                         testing::Combine(testing::Bool(), testing::Values("levels", kFiles, kFamilies)),
                         [](const testing::TestParamInfo<std::tuple<bool, const char*>>& each) {
                           return std::string(std::get<0>(each.param) ? "PowerCut_" : "Killed_") +
                                  std::get<1>(each.param);
                         });

// Creates the short-lived family, with an entry, or drops it.
void MakeOrDropFamily(OpenedStore* opened, const CrashCase& of) {
  if (const auto found = opened->families.find(kShortLived); found != opened->families.end()) {
    ASSERT_TRUE(opened->store->DropColumnFamily(found->second).ok());
    ASSERT_TRUE(opened->store->DestroyColumnFamilyHandle(found->second).ok());
    opened->families.erase(found);
    return;
  }
  rocksdb::ColumnFamilyHandle* made = nullptr;
  const rocksdb::Options options = SmallOptions(opened->store->GetEnv());
  ASSERT_TRUE(opened->store->CreateColumnFamily(options, kShortLived, SmallLayout(of), &made).ok());
  ASSERT_TRUE(opened->store->Put(rocksdb::WriteOptions(), made, "key", "value").ok());
  opened->families[kShortLived] = made;
}

void ChangePolicy(const OpenedStore& opened, const CrashCase& of, uint64_t change) {
  const auto transition = of.variant == kFiles ? FlsmTransition::kFlexible  // with files lazy is refused
                                               : static_cast<FlsmTransition>(change % 3);
  auto family = opened.families.begin();
  std::advance(family, static_cast<std::ptrdiff_t>(change % opened.families.size()));
  ASSERT_TRUE(opened.store
                  ->SetPolicy(family->second, 1 + static_cast<int>(change % 4),
                              1 + static_cast<int>(change % kSizeRatio), transition)
                  .ok());
}

TEST(FlsmCrashChild, DISABLED_WritesUntilItIsKilled) {
  CrashCase of;
  if (!ReadCrashCase(&of)) {
    GTEST_SKIP() << "is started by FlsmCrashTest";
  }
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<SyncTrackingFileSystem>());
  OpenedStore opened;
  const bool has_families = of.variant == kFamilies;
  const std::vector<std::string> more =
      has_families ? std::vector<std::string>{"events", "users"} : std::vector<std::string>{};
  ASSERT_TRUE(OpenSmall(env.get(), of, more, &opened).ok());
  rocksdb::WriteOptions write;
  write.sync = of.synced;
  Acknowledged acknowledged(of);
  for (uint64_t number = *acknowledged; !testing::Test::HasFatalFailure(); ++number) {
    rocksdb::WriteBatch batch;
    for (const auto& [name, family] : opened.families) {
      const std::string value(static_cast<std::size_t>(name == "default" ? 500 : 200), 'v');
      ASSERT_TRUE(batch.Put(family, ScatteredKey(number), value).ok());
      ASSERT_TRUE(batch.Put(family, kLatest, std::to_string(number)).ok());
    }
    ASSERT_TRUE(opened.store->Write(write, &batch).ok());
    *acknowledged = number + 1;
    if (number % kChangesPolicyAfter == 0) {
      ChangePolicy(opened, of, number / kChangesPolicyAfter);
    }
    if (has_families && number % kMakesFamilyAfter == 0) {
      MakeOrDropFamily(&opened, of);
    }
  }
}

}  // namespace
}  // namespace rocktune
