// An FLSM store under random operations (fake_flsm_operations.h) has what a map has when its process is
// killed, and when the power fails and each write was synced. ROCKTUNE_KILLS sets how often.

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/utilities/options_util.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rocktune/flsm/fake_flsm_crash.h"
#include "rocktune/flsm/fake_flsm_operations.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/flsm_store.h"
#include "rocktune/util/fake_crash.h"
#include "rocktune/util/fake_power_cut.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr uint64_t kFirstKill = 2000;  // in operations
constexpr uint64_t kBetweenKills = 700;

class FlsmCrashTest : public testing::TestWithParam<std::tuple<bool, const char*>> {
 protected:
  FlsmCrashTest() { RemoveAll(); }
  ~FlsmCrashTest() override { RemoveAll(); }

  void RemoveAll() {
    for (const auto& entry : std::filesystem::directory_iterator(testing::TempDir())) {
      const std::string path = entry.path().string();
      if (path == of_.directory || path.starts_with(of_.directory + "-") || path == Acknowledged::Path(of_)) {
        std::filesystem::remove_all(path);
      }
    }
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

  // Returns the number of the operation during which the next kill comes: in turn any one, an ingestion, a
  // checkpoint, and a family that is created or dropped.
  uint64_t NextKill(int kill) const {
    using Kind = FlsmOperation::Kind;
    constexpr std::array kKinds = {Kind::kWrite, Kind::kIngest, Kind::kCheckpoint, Kind::kFamily};
    const bool has_families = FamiliesOf(of_).size() > 1;
    const Kind wanted = kKinds[static_cast<std::size_t>(kill) % (has_families ? 4 : 3)];
    const uint64_t fewer = of_.synced ? 4 : 1;  // syncs take time
    uint64_t number = done_ == 0 ? kFirstKill / fewer : done_ + kBetweenKills / fewer;
    while (wanted != Kind::kWrite && FlsmOperation::KindOf(number, has_families) != wanted) {
      ++number;
    }
    return number;
  }

  // Brings the map to the acknowledged operations.
  void CatchUp() {
    const std::vector<std::string> families = FamiliesOf(of_);
    for (const std::string& name : families) {
      contents_[name];
    }
    for (const uint64_t end = *Acknowledged(of_); done_ < end; ++done_) {
      const FlsmOperation operation(done_, families);
      if (operation.kind() == FlsmOperation::Kind::kCheckpoint) {
        at_checkpoint_ = {done_, contents_};
      }
      operation.ApplyTo(&contents_);
    }
  }

  static FlsmContents Contents(const OpenedStore& opened) {
    FlsmContents found;
    for (const auto& [name, family] : opened.families) {
      std::map<std::string, std::string>& entries = found[name];
      const std::unique_ptr<rocksdb::Iterator> iterator(
          opened.store->NewIterator(rocksdb::ReadOptions(), family));
      for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
        entries[iterator->key().ToString()] = iterator->value().ToString();
      }
      EXPECT_TRUE(iterator->status().ok()) << name;
    }
    return found;
  }
  // Returns the first difference as text.
  static std::string Difference(const FlsmContents& found, const FlsmContents& expected) {
    for (const auto& [name, entries] : expected) {
      if (!found.contains(name)) {
        return "family " + name + " is missing";
      }
      for (const auto& [key, value] : entries) {
        const auto known = found.at(name).find(key);
        if (known == found.at(name).end() || known->second != value) {
          return name + " " + key + ": " +
                 (known == found.at(name).end() ? "is missing" : known->second.substr(0, 20)) +
                 " instead of " + value.substr(0, 20);
        }
      }
      if (found.at(name).size() != entries.size()) {
        return "family " + name + " has " + std::to_string(found.at(name).size()) + " entries instead of " +
               std::to_string(entries.size());
      }
    }
    return found.size() == expected.size() ? "" : "there are too many families";
  }
  // Expects that lookups find what iterators find.
  static void ExpectLookups(const OpenedStore& opened, const FlsmContents& expected) {
    std::string value;
    for (const auto& [name, family] : opened.families) {
      EXPECT_EQ(Violation(opened.store->Shape(family)), "") << name;
      for (const auto& [key, text] : expected.at(name)) {
        ASSERT_TRUE(opened.store->Get(rocksdb::ReadOptions(), family, key, &value).ok())
            << name << " " << key << ", " << ToText(opened.store->Shape(family));
        ASSERT_EQ(value, text) << name << " " << key;
      }
    }
  }
  void ExpectStore(rocksdb::Env* env, const std::string& path, const FlsmContents& expected) {
    OpenedStore opened;
    const rocksdb::Status status = OpenSmall(env, {path, of_.variant, of_.synced}, &opened);
    ASSERT_TRUE(status.ok()) << path << ": " << status.ToString();
    ASSERT_EQ(Difference(Contents(opened), expected), "") << path;
    ExpectLookups(opened, expected);
  }

  // Expects the latest checkpoint that the killed process has acknowledged, or the one that it was making,
  // which replaces it; each that is there is a store with the entries of its time.
  void ExpectCopies(rocksdb::Env* env) {
    const std::map<uint64_t, std::string> copies = CopiesOf(of_);
    EXPECT_TRUE(copies.contains(at_checkpoint_.first) || copies.contains(done_)) << at_checkpoint_.first;
    for (const auto& [number, path] : copies) {
      if (of_.synced) {
        SyncTrackingFileSystem::CutPower(path);
      }
      if (number == at_checkpoint_.first || number == done_) {
        ExpectStore(env, path, number == done_ ? contents_ : at_checkpoint_.second);
      }
    }
  }

  void ExpectNothingLost() {
    const std::unique_ptr<rocksdb::Env> env =
        rocksdb::NewCompositeEnv(std::make_shared<SyncTrackingFileSystem>());
    OpenByItsOptions(env.get());
    CatchUp();
    OpenedStore opened;
    const rocksdb::Status status = OpenSmall(env.get(), of_, &opened);
    ASSERT_TRUE(status.ok()) << status.ToString();
    const FlsmContents found = Contents(opened);
    // The operation in progress at the kill is done as a whole, in all families, or not at all.
    FlsmContents next = contents_;
    FlsmOperation(done_, FamiliesOf(of_)).ApplyTo(&next);
    if (found != next) {
      ASSERT_EQ(Difference(found, contents_), "") << "after " << done_ << " operations";
    }
    ExpectLookups(opened, found);
    const std::string made = of_.directory + "-made";
    std::filesystem::remove_all(made);
    const rocksdb::Status copied = MakeCopy(opened.store.get(), made, UINT64_MAX);
    ASSERT_TRUE(copied.ok()) << copied.ToString();
    opened = OpenedStore();
    ExpectStore(env.get(), made, found);
    ExpectCopies(env.get());
  }

  uint64_t done_ = 0;                                // acknowledged operations
  FlsmContents contents_;                            // after them
  std::pair<uint64_t, FlsmContents> at_checkpoint_;  // the latest checkpoint of them, by number
  const CrashCase of_ = {testing::TempDir() + "flsm-crash-" + std::to_string(getpid()),
                         std::get<1>(GetParam()), std::get<0>(GetParam())};
};

TEST_P(FlsmCrashTest, LosesNothing) {
  for (int kill = 0; kill < KillCount() && !HasFatalFailure(); ++kill) {
    const auto later = std::chrono::microseconds(kill * 397 % 3000);
    ASSERT_EQ(RunAndKill(of_, "FlsmCrashChild.DISABLED_WorksUntilItIsKilled", NextKill(kill), later), "");
    if (of_.synced) {
      SyncTrackingFileSystem::CutPower(of_.directory);
    }
    ExpectNothingLost();
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, FlsmCrashTest,
                         testing::Combine(testing::Bool(), testing::Values("levels", kFiles, kFamilies)),
                         [](const testing::TestParamInfo<std::tuple<bool, const char*>>& each) {
                           return std::string(std::get<0>(each.param) ? "PowerCut_" : "Killed_") +
                                  std::get<1>(each.param);
                         });

TEST(FlsmCrashChild, DISABLED_WorksUntilItIsKilled) {
  CrashCase of;
  if (!ReadCrashCase(&of)) {
    GTEST_SKIP() << "is started by FlsmCrashTest";
  }
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<SyncTrackingFileSystem>());
  OpenedStore opened;
  ASSERT_TRUE(OpenSmall(env.get(), of, &opened).ok());
  FlsmCrashWorker worker(of, &opened);
  Acknowledged acknowledged(of);
  for (uint64_t number = *acknowledged; !testing::Test::HasFatalFailure(); ++number) {
    worker.Do(FlsmOperation(number, FamiliesOf(of)));
    *acknowledged = number + 1;
  }
}

}  // namespace
}  // namespace rocktune
