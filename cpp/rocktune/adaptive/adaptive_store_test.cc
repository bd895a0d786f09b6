#include "rocktune/adaptive_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <thread>

namespace rocktune {
namespace {

class AdaptiveStoreTest : public testing::Test {
 protected:
  AdaptiveStoreTest() {
    options_.create_if_missing = true;
    options_.write_buffer_size = 64 << 10;
    adaptive_.mission_operations = 500;
    adaptive_.layout.sample_every = 1;
    adaptive_.layout.policies = {1};
  }
  ~AdaptiveStoreTest() override {
    store_.reset();
    std::filesystem::remove_all(directory_);
  }
  rocksdb::Status Open() { return AdaptiveStore::Open(options_, adaptive_, directory_, &store_); }
  // Writes until the controller has given level 1 more runs, and has decided after that, or a minute has
  // passed. Only then is the change in the store's directory.
  bool WriteUntilChanged() {
    const std::string value(1000, 'v');
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    uint64_t changed_after = std::numeric_limits<uint64_t>::max() - 1;
    for (int key = 0; store_->Missions() <= changed_after + 1; ++key) {
      if (std::chrono::steady_clock::now() > end) {
        return false;
      }
      EXPECT_TRUE(store_->store()->Put({}, "key" + std::to_string(key * 7919 % 5000), value).ok());
      if (store_->store()->Shape().level(1).policy > 1) {
        changed_after = std::min(changed_after, store_->Missions());
      }
    }
    return true;
  }
  std::string CostsPath() const { return directory_ + "/COSTS"; }

  static std::string NewDirectory() {
    std::string pattern = testing::TempDir() + "adaptive-XXXXXX";
    return mkdtemp(pattern.data());
  }

  const std::string directory_ = NewDirectory();
  rocksdb::Options options_;
  AdaptiveOptions adaptive_;
  std::unique_ptr<AdaptiveStore> store_;
};

TEST_F(AdaptiveStoreTest, FollowsTheWorkloadAndKeepsItsEstimates) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(WriteUntilChanged()) << "a store that is only written to gains by more runs";
  EXPECT_GT(store_->ControllerCpuNs(), 0u);
  EXPECT_TRUE(store_->Problem().ok());
  ASSERT_TRUE(store_->Close().ok());
  const std::size_t decisions = store_->Log().size();
  int policy = 1;
  for (const CostDecision& decision : store_->Log()) {
    for (const FlsmPolicyChange& change : decision.changes) {
      policy = change.level == 1 ? change.policy : policy;
    }
  }
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(store_->Log().size(), decisions);
  EXPECT_EQ(store_->store()->Shape().level(1).policy, policy);
}

// REQUIRES: no database was opened in this process before, since threads do not survive a fork. ctest runs
// each test in a process of its own.
TEST_F(AdaptiveStoreTest, ServesAfterAKill) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (Open().ok() && WriteUntilChanged()) {
      kill(getpid(), SIGKILL);
    }
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the child has changed nothing";
  ASSERT_TRUE(Open().ok());
  EXPECT_GT(store_->store()->Shape().level(1).policy, 1);
  EXPECT_FALSE(store_->Log().empty());
  EXPECT_TRUE(store_->store()->Put({}, "after", "kill").ok());
}

TEST_F(AdaptiveStoreTest, BeginsAgainWithADamagedFile) {
  ASSERT_TRUE(Open().ok());
  ASSERT_TRUE(store_->Close().ok());
  std::ofstream(CostsPath()) << "{";
  ASSERT_TRUE(Open().ok());
  EXPECT_TRUE(store_->Problem().IsCorruption());
  EXPECT_TRUE(store_->Log().empty());
  EXPECT_TRUE(store_->store()->Put({}, "key", "value").ok());
}

TEST_F(AdaptiveStoreTest, AnApplicationsControllerDecides) {
  class Five : public FlsmController {
   public:
    std::vector<FlsmPolicyChange> Decide(const FlsmMission& mission) override {
      return mission.shape.level(2).policy == 5 ? std::vector<FlsmPolicyChange>()
                                                : std::vector<FlsmPolicyChange>{{2, 5}};
    }
  };
  adaptive_.controller = std::make_shared<Five>();
  ASSERT_TRUE(Open().ok());
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (store_->store()->Shape().level(2).policy != 5 && std::chrono::steady_clock::now() < end) {
    ASSERT_TRUE(store_->store()->Put({}, "key", "value").ok());
  }
  EXPECT_EQ(store_->store()->Shape().level(2).policy, 5);
  EXPECT_TRUE(store_->Log().empty());
  EXPECT_FALSE(std::filesystem::exists(CostsPath()));
}

TEST_F(AdaptiveStoreTest, RefusesWhatItCannotPredict) {
  adaptive_.layout.granularity = FlsmGranularity::kFiles;
  EXPECT_TRUE(Open().IsNotSupported());
  adaptive_.layout.granularity = FlsmGranularity::kLevels;
  adaptive_.layout.sample_every = 0;
  EXPECT_TRUE(Open().IsInvalidArgument());
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/CURRENT")) << "nothing is created";
}

}  // namespace
}  // namespace rocktune
