#include "rocktune/governor/governed_options.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace rocktune {
namespace {

TEST(GovernedOptionsTest, WritesAreSlowedAtThreeQuartersOfABound) {
  EXPECT_EQ(RaisedTriggers({1000, 400}, {}), (GovernedOptions{false, 750, 1000, 300, 400}));
  EXPECT_EQ(RaisedTriggers({10, 0}, {}), (GovernedOptions{false, 8, 10, 0, 0}));
}

TEST(GovernedOptionsTest, TriggersBeginAboveThePresentDebt) {
  EXPECT_EQ(RaisedTriggers({4, 100}, {9, 300}), (GovernedOptions{false, 10, 13, 301, 401}));
}

TEST(GovernedOptionsTest, ABoundOfZeroIsNoBound) {
  EXPECT_EQ(RaisedTriggers({0, 0}, {1'000'000, 1'000'000}),
            (GovernedOptions{false, 805'306'368, 1 << 30, 0, 0}));
}

TEST(GovernedOptionsTest, RecognizesRaisedTriggers) {
  for (const uint64_t runs : {0, 1, 6, 36, 1000, 1 << 30}) {
    for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{256} << 30, uint64_t{255} << 50}) {
      for (const uint64_t owed : {0, 5, 1234567}) {
        GovernedOptions options = RaisedTriggers({runs, bytes}, {owed, owed});
        EXPECT_TRUE(AreRaisedTriggers(options, {runs, bytes})) << runs << " " << bytes << " " << owed;
        options.disable_auto_compactions = true;
        EXPECT_TRUE(AreRaisedTriggers(options, {runs, bytes}));
      }
    }
  }
}

TEST(GovernedOptionsTest, DoesNotRecognizeOtherTriggers) {
  const DebtBounds bounds = {1000, 400};
  EXPECT_FALSE(AreRaisedTriggers({false, 20, 36, uint64_t{64} << 30, uint64_t{256} << 30}, bounds));
  EXPECT_FALSE(AreRaisedTriggers({false, 751, 1000, 300, 400}, bounds));
  EXPECT_FALSE(AreRaisedTriggers({false, 600, 800, 300, 400}, bounds)) << "a lower bound";
  EXPECT_FALSE(AreRaisedTriggers({false, 750, 1000, 0, 0}, bounds)) << "no bound";
  EXPECT_FALSE(AreRaisedTriggers({false, 750, 1000, 300, 400}, {1000, 0})) << "a bound";
}

TEST(GovernedOptionsTest, MinDebtRunsSlowsWritesAboveTheCompactionTrigger) {
  for (int trigger = 0; trigger < 100; ++trigger) {
    const uint64_t bound = MinDebtRuns(trigger);
    EXPECT_GT(RaisedTriggers({bound, 0}, {}).level0_slowdown_writes_trigger, trigger);
    if (bound > 1) {
      EXPECT_LE(RaisedTriggers({bound - 1, 0}, {}).level0_slowdown_writes_trigger, trigger);
    }
  }
}

}  // namespace
}  // namespace rocktune
