// An adaptive store has what a map has when its process is killed, and when the power fails and each write
// was synced. Its policies are those of its log, and its file of prices is whole. ROCKTUNE_KILLS sets how
// often.

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/utilities/options_util.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "rocktune/adaptive_store.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/util/fake_crash.h"
#include "rocktune/util/fake_dying_process.h"
#include "rocktune/util/fake_power_cut.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr uint64_t kKeys = 1000;
constexpr uint64_t kOperationsOfAWorkload = 4000;
constexpr uint64_t kMissionOperations = 300;
constexpr uint64_t kNoMissions = uint64_t{1} << 60;
constexpr const char* kUntilSettled = "until settled";  // what a child does that is not killed
constexpr const char* kChild = "AdaptiveCrashChild.DISABLED_ServesUntilItIsKilled";
constexpr int kMaxOpenings = 30;  // of a process that no kill reaches

using Entries = std::map<std::string, std::string>;

// Operation n is a put, or a lookup, as a function of n. Mostly writes and mostly reads take turns.
bool IsPut(uint64_t number) {
  const uint64_t puts_of_100 = number / kOperationsOfAWorkload % 2 == 0 ? 95 : 10;
  return number * 7 % 100 < puts_of_100;
}
std::string KeyOf(uint64_t number) { return std::to_string(10'000 + number * 7919 % kKeys); }
std::string ValueOf(uint64_t number) {
  return std::to_string(number) + std::string(800 + number % 400, static_cast<char>('a' + number % 26));
}

rocksdb::Options SmallOptions(rocksdb::Env* env) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.env = env;
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 64 << 10;
  options.compression = rocksdb::kNoCompression;
  return options;
}

AdaptiveOptions SmallLayout(uint64_t mission_operations) {
  AdaptiveOptions adaptive;
  adaptive.layout.size_ratio = 4;
  adaptive.layout.policies = {2};
  adaptive.layout.sample_every = 1;
  adaptive.mission_operations = mission_operations;
  return adaptive;
}

Entries EntriesOf(rocksdb::DB* db) {
  Entries found;
  const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(rocksdb::ReadOptions()));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    found[iterator->key().ToString()] = iterator->value().ToString();
  }
  EXPECT_TRUE(iterator->status().ok());
  return found;
}

std::vector<int> PoliciesOf(const FlsmShape& shape) {
  std::vector<int> policies;
  for (const FlsmLevel& level : shape.levels) {
    policies.push_back(level.policy);
  }
  return policies;
}

class AdaptiveCrashTest : public testing::TestWithParam<bool> {
 protected:
  AdaptiveCrashTest() { RemoveAll(); }
  ~AdaptiveCrashTest() override { RemoveAll(); }

  void RemoveAll() {
    std::filesystem::remove_all(directory_);
    std::filesystem::remove(Acknowledged::Path(Case("")));
  }
  CrashCase Case(const std::string& variant) const { return {directory_, variant, GetParam()}; }

  // Kills the store's process, in turn: anywhere; while it opens the store; while it writes prices and log;
  // and while it writes a policy, which may end without one.
  void Kill(int kill) {
    const uint64_t served = *Acknowledged(Case(""));
    if (const int way = kill % 4; way < 2) {
      const uint64_t further = way == 1 ? 0 : GetParam() ? 500 : 3000;
      const auto later = std::chrono::microseconds(kill * 1397 % 40'000);
      ASSERT_EQ(RunAndKill(Case("0"), kChild, served + further, later), "");
    } else {
      const std::string dies_at = std::to_string(1 + kill / 4 % 8) + (way == 2 ? " COSTS" : " FLSM");
      const int status = RunChild(Case(dies_at), kChild);
      const bool was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
      ASSERT_TRUE(was_killed || (way == 3 && status == 0)) << dies_at << ": " << status;
    }
    if (GetParam()) {
      SyncTrackingFileSystem::CutPower(directory_);
    }
  }

  // Brings the map to the acknowledged operations. Returns it with the one in progress at the kill, too.
  Entries CatchUp() {
    for (const uint64_t end = *Acknowledged(Case("")); done_ < end; ++done_) {
      Apply(done_, &entries_);
    }
    Entries next = entries_;
    Apply(done_, &next);
    return next;
  }
  static void Apply(uint64_t number, Entries* entries) {
    if (IsPut(number)) {
      (*entries)[KeyOf(number)] = ValueOf(number);
    }
  }

  // Opens the database with the options of its OPTIONS file, as some programs do.
  Entries ByItsOptions(rocksdb::Env* env) {
    rocksdb::ConfigOptions config;
    config.env = env;
    rocksdb::DBOptions database;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    EXPECT_TRUE(rocksdb::LoadLatestOptions(config, directory_, &database, &families).ok());
    rocksdb::Options options(database, families.at(0).options);
    options.env = env;
    std::unique_ptr<rocksdb::DB> db;
    const rocksdb::Status status = OpenDatabase(options, directory_, &db);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return status.ok() ? EntriesOf(db.get()) : Entries();
  }

  Entries WithoutController(rocksdb::Env* env) {
    std::unique_ptr<FlsmStore> store;
    const rocksdb::Status status =
        FlsmStore::Open(SmallOptions(env), SmallLayout(1).layout, directory_, &store);
    EXPECT_TRUE(status.ok()) << status.ToString();
    if (!status.ok()) {
      return {};
    }
    EXPECT_EQ(Violation(store->Shape()), "");
    found_policies_ = PoliciesOf(store->Shape());
    return EntriesOf(store.get());
  }

  // Expects that each policy is what the decisions since the last kill made of it. The last decision may not
  // have been applied, because the log is kept first.
  void ExpectLoggedPolicies(const FlsmShape& shape, const std::vector<CostDecision>& log) {
    ASSERT_GE(log.size(), logged_) << "entries are lost";
    policies_.resize(shape.levels.size(), SmallLayout(1).layout.policies.front());
    std::vector<int> before_last = policies_;
    for (; logged_ < log.size(); ++logged_) {
      before_last = log[logged_].changes.empty() ? before_last : policies_;
      for (const FlsmPolicyChange& change : log[logged_].changes) {
        policies_[static_cast<std::size_t>(change.level) - 1] = change.policy;
      }
    }
    for (std::size_t level = 0; level < shape.levels.size(); ++level) {
      const int policy = shape.levels[level].policy;
      EXPECT_TRUE(policy == policies_[level] || policy == before_last[level])
          << "level " << level + 1 << " has K = " << policy << ", its log " << policies_[level] << " after "
          << before_last[level];
      policies_[level] = policy;
    }
  }

  std::string Costs() const {
    std::ifstream file(directory_ + "/COSTS");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void ExpectAdaptive(rocksdb::Env* env, const Entries& expected) {
    const std::string costs = Costs();
    std::unique_ptr<AdaptiveStore> adaptive;
    const rocksdb::Status status =
        AdaptiveStore::Open(SmallOptions(env), SmallLayout(kNoMissions), directory_, &adaptive);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(adaptive->Problem().ok()) << adaptive->Problem().ToString() << ": " << costs;
    const FlsmShape shape = adaptive->store()->Shape();
    EXPECT_EQ(PoliciesOf(shape), found_policies_) << "with a controller and without";
    ExpectLoggedPolicies(shape, adaptive->Log());
    std::string value;
    for (const auto& [key, text] : expected) {
      ASSERT_TRUE(adaptive->store()->Get(rocksdb::ReadOptions(), key, &value).ok()) << key;
      ASSERT_EQ(value, text) << key;
    }
    ASSERT_TRUE(adaptive->Close().ok());
    if (!costs.empty()) {
      EXPECT_EQ(Costs(), costs) << "prices and log are restored as they were";
    }
  }

  void ExpectNothingLost() {
    const std::unique_ptr<rocksdb::Env> env =
        rocksdb::NewCompositeEnv(std::make_shared<SyncTrackingFileSystem>());
    const Entries next = CatchUp();
    const Entries found = ByItsOptions(env.get());
    EXPECT_TRUE(found == entries_ || found == next) << "after " << done_ << " operations";
    EXPECT_TRUE(WithoutController(env.get()) == found);
    ExpectAdaptive(env.get(), found);
  }

  const std::string directory_ = testing::TempDir() + "adaptive-crash-" + std::to_string(getpid());
  uint64_t done_ = 0;                // acknowledged operations
  Entries entries_;                  // after them
  std::vector<int> found_policies_;  // as found without a controller
  std::vector<int> policies_;        // by level, at the last kill
  std::size_t logged_ = 0;           // decisions in the log then
};

TEST_P(AdaptiveCrashTest, LosesNothing) {
  ASSERT_EQ(RunChild(Case(kUntilSettled), kChild), 0);
  ExpectNothingLost();
  ASSERT_GT(logged_, 0u) << "nothing is decided";
  for (int kill = 0; kill < KillCount() && !HasFailure(); ++kill) {
    SCOPED_TRACE("kill " + std::to_string(kill));
    Kill(kill);
    ExpectNothingLost();
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, AdaptiveCrashTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& each) {
                           return std::string(each.param ? "PowerCut" : "Killed");
                         });

// Serves an opened store while `wanted` is true.
void Serve(AdaptiveStore* adaptive, bool synced, Acknowledged* acknowledged,
           const std::function<bool()>& wanted) {
  rocksdb::WriteOptions write;
  write.sync = synced;
  std::string value;
  while (wanted()) {
    const uint64_t number = **acknowledged;
    if (IsPut(number)) {
      ASSERT_TRUE(adaptive->store()->Put(write, KeyOf(number), ValueOf(number)).ok());
    } else {
      const rocksdb::Status status = adaptive->store()->Get(rocksdb::ReadOptions(), KeyOf(number), &value);
      ASSERT_TRUE(status.ok() || status.IsNotFound());
    }
    **acknowledged = number + 1;
  }
}

// Its variant is the number of the operation on files at which it dies, and the prefix of their names; or
// kUntilSettled.
TEST(AdaptiveCrashChild, DISABLED_ServesUntilItIsKilled) {
  CrashCase of;
  if (!ReadCrashCase(&of)) {
    GTEST_SKIP() << "is started by AdaptiveCrashTest";
  }
  const bool until_settled = of.variant == kUntilSettled;
  int dies_at = 0;
  std::string prefix;
  std::istringstream(of.variant) >> dies_at >> prefix;
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(
      std::make_shared<DyingFileSystem>(dies_at, prefix, std::make_shared<SyncTrackingFileSystem>()));
  Acknowledged acknowledged(of);
  const int openings = until_settled ? 1 : kMaxOpenings;
  for (int opening = 0; opening < openings && !testing::Test::HasFatalFailure(); ++opening) {
    std::unique_ptr<AdaptiveStore> adaptive;
    const rocksdb::Status status = AdaptiveStore::Open(
        SmallOptions(env.get()), SmallLayout(kMissionOperations), of.directory, &adaptive);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_TRUE(adaptive->Problem().ok()) << adaptive->Problem().ToString();
    // It is closed before it has settled, and after.
    const uint64_t missions = 1 + static_cast<uint64_t>(opening) % 10;
    Serve(adaptive.get(), of.synced, &acknowledged,
          [&] { return until_settled ? !adaptive->IsSettled() : adaptive->Missions() < missions; });
    ASSERT_TRUE(adaptive->Close().ok());
  }
}

}  // namespace
}  // namespace rocktune
