#include "rocktune/cost_controller.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/flsm/flsm_simulator.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr uint64_t kFlush = 1000;
constexpr uint64_t kOperations = 10'000;

// A tree without data, on which a read in vain and a moved byte have known prices.
class ModelledTree {
 public:
  ModelledTree() : tree_(Empty(), kFlush, HasTrivialMove()) { tree_.Write(4567 * kFlush); }

  // Serves a mission of lookups and of writes of `entry_bytes`.
  FlsmMission Serve(double read_share, uint64_t entry_bytes = 10) {
    const std::vector<uint64_t> before = tree_.level_bytes();
    FlsmMission mission;
    mission.number = ++missions_;
    FlsmStatistics& statistics = mission.statistics;
    statistics.lookups = static_cast<uint64_t>(read_share * kOperations);
    statistics.entries_written = kOperations - statistics.lookups;
    statistics.flushed_bytes = statistics.entries_written * entry_bytes;
    statistics.levels.resize(before.size() + 1);
    constexpr uint64_t kParts = 50;
    for (uint64_t part = 0; part < kParts; ++part) {
      tree_.Write(statistics.flushed_bytes / kParts);
      for (std::size_t level = 0; level < before.size(); ++level) {
        const uint64_t runs = tree_.shape().levels[level].runs.size();
        statistics.levels[level + 1].false_positive_read_ns += statistics.lookups / kParts * runs * vain_ns;
      }
    }
    statistics.quiet.operations = kOperations;
    for (std::size_t level = 0; level < before.size(); ++level) {
      const uint64_t moved = tree_.level_bytes()[level] - before[level];
      statistics.levels[level + 1].compaction_written_bytes = moved;
      statistics.merging.busy_ns += moved * byte_ns;
      statistics.quiet.busy_ns += statistics.levels[level + 1].false_positive_read_ns;
    }
    statistics.quiet.busy_ns += 1000 * kOperations;
    statistics.busy_ns = statistics.quiet.busy_ns + statistics.merging.busy_ns;
    mission.shape = tree_.shape();
    return mission;
  }
  // Serves missions under a controller. Returns the numbers of the missions after which it changed a policy.
  std::vector<uint64_t> Serve(CostController* controller, double read_share, int missions) {
    std::vector<uint64_t> changed;
    for (int mission = 0; mission < missions; ++mission) {
      const FlsmMission served = Serve(read_share);
      for (const FlsmPolicyChange& change : controller->Decide(served)) {
        tree_.SetPolicy(change.level, change.policy, change.transition);
        changed.push_back(served.number);
      }
    }
    return changed;
  }
  int Policy(int level) const { return tree_.shape().Policy(level); }

  uint64_t vain_ns = 2000;
  uint64_t byte_ns = 100;

 private:
  static FlsmShape Empty() {
    FlsmOptions layout;
    layout.size_ratio = 10;
    layout.levels = 5;
    layout.policies = {3};
    layout.level0_runs = 0;
    return EmptyShape(layout, kFlush, kFlush);
  }

  FlsmSimulator tree_;
  uint64_t missions_ = 0;
};

TEST(CostControllerTest, ReadsGetFewRunsAndWritesMany) {
  for (const double read_share : {0.02, 0.98}) {
    ModelledTree tree;
    CostController controller;
    tree.Serve(&controller, read_share, 9);
    for (const int level : {1, 2, 3}) {
      EXPECT_EQ(tree.Policy(level), read_share < 0.5 ? 10 : 1) << "level " << level;
    }
  }
}

TEST(CostControllerTest, SettlesAndThenChangesNothing) {
  ModelledTree tree;
  CostController controller;
  tree.Serve(&controller, 0.02, 8);
  EXPECT_TRUE(controller.IsSettled());
  EXPECT_TRUE(tree.Serve(&controller, 0.02, 40).empty());
}

TEST(CostControllerTest, DoesNotSettleBeforeItKnowsWhatMergesCost) {
  ModelledTree tree;
  CostController controller;
  tree.byte_ns = 0;
  tree.Serve(&controller, 0.02, 8);
  EXPECT_FALSE(controller.IsSettled());
  tree.byte_ns = 100;
  tree.Serve(&controller, 0.02, 60);
  EXPECT_TRUE(controller.IsSettled());
  EXPECT_EQ(tree.Policy(1), 10);
}

TEST(CostControllerTest, SettlesWithoutWrites) {
  ModelledTree tree;
  CostController controller;
  tree.Serve(&controller, 1, 8);
  EXPECT_TRUE(controller.IsSettled());
}

TEST(CostControllerTest, DecidesAgainWhenTheWorkloadChanges) {
  ModelledTree tree;
  CostController controller;
  tree.Serve(&controller, 0.02, 30);
  const std::vector<uint64_t> changed = tree.Serve(&controller, 0.98, 12);
  ASSERT_FALSE(changed.empty());
  EXPECT_EQ(changed.front(), 32u) << "the second mission of the new workload";
  EXPECT_EQ(tree.Policy(1), 1);
}

TEST(CostControllerTest, EstimatesPricesWhateverThePolicy) {
  ModelledTree tree;
  CostController controller;
  tree.Serve(&controller, 0.5, 20);
  const CostPrices prices = controller.Prices(3);
  EXPECT_NEAR(prices.byte_ns.value, 100, 1);
  for (const CostEstimate& vain : prices.vain_ns) {
    EXPECT_NEAR(vain.value, 2000, 100);
    EXPECT_LT(vain.deviation, 200);
  }
}

TEST(CostControllerTest, LogsWhatWasPredictedAndWhatWasObserved) {
  ModelledTree tree;
  CostController controller;
  tree.Serve(&controller, 0.02, 17);
  const std::vector<CostDecision> log = controller.Log();
  ASSERT_FALSE(log.empty());
  EXPECT_EQ(log.front().mission, 1u);
  EXPECT_FALSE(log.front().changes.empty());
  EXPECT_EQ(log.back().what, "settled");
  EXPECT_EQ(log.back().observed_missions, 8);
  EXPECT_NEAR(log.back().observed_ns, log.back().predicted_ns, 0.15 * log.back().predicted_ns);
}

TEST(CostControllerTest, ChangesNothingWithoutKnowledgeOfAPrice) {
  ModelledTree tree;
  CostController controller;
  // Lookups alone: what a merged byte costs is unknown, and no merge would come of a change.
  EXPECT_TRUE(tree.Serve(&controller, 1, 20).empty());
}

TEST(CostControllerTest, RestoresPricesAndLog) {
  ModelledTree tree;
  CostController controller;
  tree.Serve(&controller, 0.02, 20);
  CostController restored;
  ASSERT_TRUE(restored.Restore(controller.Save()).ok());
  EXPECT_EQ(restored.Save(), controller.Save());
  EXPECT_EQ(restored.Log().size(), controller.Log().size());
}

TEST(CostControllerTest, RefusesAnyOtherText) {
  CostController controller;
  const std::string before = controller.Save();
  for (const std::string text :
       {"", "{", "[]", "{}", R"({"format":2})", R"({"format":1,"prices":3,"log":[]})",
        R"({"format":1,"prices":[],"log":[{}]})"}) {
    EXPECT_TRUE(controller.Restore(text).IsCorruption()) << text;
    EXPECT_EQ(controller.Save(), before) << text;
  }
}

}  // namespace
}  // namespace rocktune
