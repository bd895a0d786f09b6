#include "rocktune/flsm/flsm_pilot.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace rocktune {
namespace {

// A controller that returns the changes set by Want and records all missions.
class FakeController : public FlsmController {
 public:
  std::vector<FlsmPolicyChange> Decide(const FlsmMission& mission) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    missions_.push_back(mission);
    asked_.notify_all();
    return changes_;
  }
  void Want(std::vector<FlsmPolicyChange> changes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    changes_ = std::move(changes);
  }
  std::vector<FlsmMission> WaitFor(std::size_t missions) {
    std::unique_lock<std::mutex> lock(mutex_);
    asked_.wait(lock, [&] { return missions_.size() >= missions; });
    return missions_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable asked_;
  std::vector<FlsmMission> missions_;
  std::vector<FlsmPolicyChange> changes_;
};

class FlsmPilotTest : public testing::Test {
 protected:
  FlsmPilotTest() {
    rocksdb::Options options;
    options.create_if_missing = true;
    FlsmOptions layout;
    layout.policies = {1};
    EXPECT_TRUE(FlsmStore::Open(options, layout, directory_, &store_).ok());
  }
  ~FlsmPilotTest() override {
    store_.reset();
    std::filesystem::remove_all(directory_);
  }
  void Put(int count) {
    for (int key = 0; key < count; ++key) {
      ASSERT_TRUE(store_->Put(rocksdb::WriteOptions(), "key" + std::to_string(key), "value").ok());
    }
  }
  void Get(int count) {
    std::string value;
    for (int key = 0; key < count; ++key) {
      ASSERT_TRUE(store_->Get(rocksdb::ReadOptions(), "key" + std::to_string(key), &value).ok());
    }
  }

  static std::string NewDirectory() {
    std::string pattern = testing::TempDir() + "pilot-XXXXXX";
    return mkdtemp(pattern.data());
  }

  const std::string directory_ = NewDirectory();
  std::unique_ptr<FlsmStore> store_;
  FakeController controller_;
};

TEST(FlsmPilotWait, IsHalfOfTheExpectedTime) {
  using std::chrono::milliseconds;
  const milliseconds none(-7);
  EXPECT_EQ(UntilNextCheck(100, 0, none), milliseconds(100)) << "nothing is known";
  EXPECT_EQ(UntilNextCheck(100, 1e6, none), milliseconds(50));
  EXPECT_EQ(UntilNextCheck(1, 1e6, none), milliseconds(1));
  EXPECT_EQ(UntilNextCheck(0, 1e6, none), milliseconds(1));
  EXPECT_EQ(UntilNextCheck(uint64_t{1} << 62, 1e9, none), milliseconds(100));
}

TEST(FlsmPilotWait, LooksNoMoreOftenThanItsShareOfAProcessorAllows) {
  using std::chrono::milliseconds;
  EXPECT_EQ(UntilNextCheck(0, 1e6, milliseconds(140)), milliseconds(140));
  EXPECT_EQ(UntilNextCheck(10, 1e6, milliseconds(140)), milliseconds(140));
  EXPECT_EQ(UntilNextCheck(100, 0, milliseconds(140)), milliseconds(140));
  EXPECT_EQ(UntilNextCheck(0, 1e6, std::chrono::nanoseconds(1'000'001)), milliseconds(2));
}

TEST_F(FlsmPilotTest, EachMissionHasItsOwnStatistics) {
  const FlsmPilot pilot(store_.get(), &controller_, 300);
  Put(300);
  const FlsmMission first = controller_.WaitFor(1).at(0);
  EXPECT_EQ(first.number, 1u);
  EXPECT_EQ(first.statistics.entries_written, 300u);
  EXPECT_EQ(first.statistics.lookups, 0u);
  EXPECT_GT(first.statistics.busy_ns, 0u);
  EXPECT_GT(first.seconds, 0);
  EXPECT_EQ(first.shape.levels.size(), 6u);
  Get(300);
  const FlsmMission second = controller_.WaitFor(2).at(1);
  EXPECT_EQ(second.statistics.entries_written, 0u);
  EXPECT_EQ(second.statistics.lookups, 300u);
  EXPECT_EQ(second.statistics.found, 300u);
}

TEST_F(FlsmPilotTest, AppliesTheControllersDecisions) {
  controller_.Want({{1, 4}, {2, 3}});
  FlsmPilot pilot(store_.get(), &controller_, 10);
  Put(10);
  controller_.WaitFor(1);
  Put(10);
  controller_.WaitFor(2);  // the first decision has been applied by then
  EXPECT_EQ(store_->Shape().level(1).policy, 4);
  EXPECT_EQ(store_->Shape().level(2).policy, 3);
  EXPECT_TRUE(pilot.LastRefusal().ok());
  EXPECT_GE(pilot.missions(), 2u);
}

TEST_F(FlsmPilotTest, ReportsARefusedChangeAndContinues) {
  controller_.Want({{99, 4}, {1, 5}});
  const FlsmPilot pilot(store_.get(), &controller_, 10);
  Put(10);
  controller_.WaitFor(1);
  Put(10);
  controller_.WaitFor(2);
  EXPECT_TRUE(pilot.LastRefusal().IsInvalidArgument());
  EXPECT_EQ(store_->Shape().level(1).policy, 5);
}

TEST_F(FlsmPilotTest, AnUnusedStoreHasNoMissions) {
  Put(1000);
  { const FlsmPilot pilot(store_.get(), &controller_, 1); }
  const FlsmPilot pilot(store_.get(), &controller_, 1);
  EXPECT_EQ(pilot.missions(), 0u) << "operations before the pilot do not count";
}

}  // namespace
}  // namespace rocktune
