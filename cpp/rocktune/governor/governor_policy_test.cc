#include "rocktune/governor/governor_policy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rocktune {
namespace {

constexpr uint64_t kMega = 1'000'000;
// A device of 400 MB/s. Flushes reach 200 MB/s, since the WAL takes the other half.
constexpr GovernorLimits kLimits = {400 * kMega, 200 * kMega, 1000 * kMega, 100};

// Returns a sample of one second. All arguments but `runs` are in megabytes.
GovernorSample Second(uint64_t flushed, uint64_t compacted, uint64_t pending = 0, uint64_t runs = 0) {
  GovernorSample sample;
  sample.seconds = 1;
  sample.flush_bytes = flushed * kMega;
  sample.compaction_write_bytes = compacted * kMega;
  sample.pending_bytes = pending * kMega;
  sample.sorted_runs = runs;
  return sample;
}

struct Step {
  const char* what;
  GovernorSample sample;
  bool off;
};

// Each step continues with the state of the step before.
void ExpectDecisions(const std::vector<Step>& steps) {
  ToggleState state;
  for (const Step& step : steps) {
    state = NextToggle(state, step.sample, kLimits, ToggleWatermarks());
    EXPECT_EQ(state.compactions_off, step.off) << step.what;
  }
}

TEST(ToggleTest, CompactionsGoOffAsLoadRisesAndOnAsItFalls) {
  ExpectDecisions({
      {"flushes 25%, compactions the rest", Second(50, 150), false},
      {"flushes 49%", Second(98, 102), false},
      {"flushes 50%, together 90%", Second(100, 80), true},
      {"flushes 95% alone", Second(190, 0), true},
      {"flushes 60% alone: neither condition", Second(120, 0), true},
      {"flushes 45%", Second(90, 0), false},
  });
}

TEST(ToggleTest, FlushesAloneDoNotSwitchCompactionsOff) {
  ExpectDecisions({{"flushes 60%, together 80%", Second(120, 40), false}});
}

TEST(ToggleTest, CompactionsAreOnWithoutLoad) {
  ExpectDecisions({{"a peak", Second(190, 0), true}, {"nothing at all", Second(0, 0), false}});
}

TEST(ToggleTest, DebtNearItsBoundSwitchesCompactionsOn) {
  ExpectDecisions({
      {"a peak", Second(190, 0, 100, 50), true},
      {"between the watermarks, below seven tenths of the bounds", Second(110, 0, 690, 69), true},
      {"seven tenths of debt_runs", Second(110, 80, 690, 70), false},
      {"a peak again, not yet half repaid", Second(150, 50, 600, 60), false},
      {"half repaid", Second(150, 50, 500, 50), true},
  });
}

TEST(ToggleTest, LaggingFlushesCountAsAtTheirWatermark) {
  GovernorSample sample = Second(40, 150);
  ExpectDecisions({{"flushes 20%, together 95%", sample, false}});
  sample.flushes_lag = true;
  ExpectDecisions({{"the same, but memtables wait for them", sample, true}});
}

// The thesis' interval: 100 refills of 100 ms.
constexpr uint64_t kIntervalMicros = 10'000'000;

struct DrainStep {
  const char* what;
  uint64_t flush_drains;
  uint64_t compaction_drains;
  bool off;
  double seconds = 10;
};

// Each step continues with the decision of the step before.
void ExpectDrainDecisions(bool off, const std::vector<DrainStep>& steps) {
  for (const DrainStep& step : steps) {
    GovernorSample sample;
    sample.seconds = step.seconds;
    sample.flush_drains = step.flush_drains;
    sample.compaction_drains = step.compaction_drains;
    off = NextDrains(off, sample, kIntervalMicros, ToggleWatermarks());
    EXPECT_EQ(off, step.off) << step.what;
  }
}

TEST(DrainsTest, CompactionsGoOffAsFlushesDrainTheBucketAndOnAsTheyCease) {
  ExpectDrainDecisions(false, {
                                  {"flushes 25%, compactions 70%", 25, 70, false},
                                  {"flushes 49%, compactions 50%", 49, 50, false},
                                  {"flushes 50%, compactions 40%: both watermarks", 50, 40, true},
                                  {"flushes 95% alone", 95, 0, true},
                                  {"flushes 60% alone: neither condition", 60, 0, true},
                                  {"flushes 49% alone", 49, 0, false},
                              });
}

TEST(DrainsTest, CompactionsDoNotSwitchThemselvesOff) {
  ExpectDrainDecisions(false, {
                                  {"compactions alone at the cap", 0, 100, false},
                                  {"flushes below their watermark", 49, 51, false},
                              });
}

TEST(DrainsTest, TheTotalAtItsWatermarkStillSwitchesOn) {
  ExpectDrainDecisions(true, {
                                 {"flushes 49%, together 91%: neither condition", 49, 42, true},
                                 {"flushes 49%, together 90%", 49, 41, false},
                             });
}

TEST(DrainsTest, WithoutDrainsNothingChanges) {
  ExpectDrainDecisions(true, {{"nothing waited", 0, 0, true}});
  ExpectDrainDecisions(false, {{"nothing waited", 0, 0, false}});
  ExpectDrainDecisions(true, {{"a single drain", 1, 0, false}});
}

TEST(DrainsTest, PercentagesAreWholeAndOfTheRefillsThatPassed) {
  ExpectDrainDecisions(false, {
                                  {"100 of 201 refills are 49%, and 82 are 40%", 100, 82, false, 20.1},
                                  {"a begun refill counts: 50 of 101 are 49%", 50, 50, false, 10.05},
                                  {"100 of 200 and 80 of 200", 100, 80, true, 20},
                                  {"less than one refill", 0, 1, true, 0.01},
                              });
  ExpectDrainDecisions(true, {{"199 of 100,000 refills: 0% counts as nothing", 199, 0, true, 10'000}});
}

TEST(DrainsTest, FollowsTheWatermarksGiven) {
  GovernorSample sample;
  sample.seconds = 10;
  sample.flush_drains = 30;
  sample.compaction_drains = 30;
  EXPECT_TRUE(NextDrains(false, sample, kIntervalMicros, {0.3, 0.6}));
  EXPECT_FALSE(NextDrains(false, sample, kIntervalMicros, {0.31, 0.6}));
  EXPECT_FALSE(NextDrains(false, sample, kIntervalMicros, {0.3, 0.61}));
}

TEST(DrainsTest, AnIntervalHasAHundredRefills) {
  EXPECT_EQ(RefillMicros(kIntervalMicros), 100'000u) << "RocksDB's default";
  EXPECT_EQ(RefillMicros(625'000), 6250u) << "a model of 1/16";
  EXPECT_EQ(RefillMicros(1), 1u);
}

TEST(ProportionalTest, CompactionsGetTheBandwidthOthersLeave) {
  GovernorSample sample = Second(100, 0);
  sample.wal_bytes = 100 * kMega;
  sample.user_read_bytes = 50 * kMega;
  EXPECT_EQ(CompactionBytesPerSecond(sample, kLimits), 125 * kMega) << "400 - 1.1 * 250";
  sample.seconds = 2;
  EXPECT_EQ(CompactionBytesPerSecond(sample, kLimits), 262'500'000);
}

TEST(ProportionalTest, ReadsTakeAtMostHalfAndNoneWhenLevel0IsDue) {
  GovernorSample sample = Second(100, 0);
  sample.user_read_bytes = 300 * kMega;
  EXPECT_EQ(CompactionBytesPerSecond(sample, kLimits), 145 * kMega) << "half of 400 - 1.1 * 100";
  sample.user_read_bytes = 50 * kMega;
  EXPECT_EQ(CompactionBytesPerSecond(sample, kLimits), 235 * kMega) << "reads leave more";
  sample.level0_due = true;
  EXPECT_EQ(CompactionBytesPerSecond(sample, kLimits), 290 * kMega) << "400 - 1.1 * 100";
}

TEST(ProportionalTest, StaysBetweenMinimumShareAndDevice) {
  EXPECT_EQ(CompactionBytesPerSecond(Second(900, 0), kLimits), 8 * kMega);
  GovernorLimits fairer = kLimits;
  fairer.min_compaction_share = 0.1;
  EXPECT_EQ(CompactionBytesPerSecond(Second(900, 0), fairer), 40 * kMega);
  EXPECT_EQ(CompactionBytesPerSecond(Second(0, 0), kLimits), 400 * kMega);
}

TEST(ProportionalTest, RisesQuadraticallyBeyondHalfTheBound) {
  // 70 MB/s are left (400 - 1.1 * 300). The bound adds the other 330; at three quarters of the bound,
  // half-way from 0.5 to 1, a quarter of these is added (0.5 squared).
  EXPECT_EQ(CompactionBytesPerSecond(Second(300, 0, 500), kLimits), 70 * kMega);
  EXPECT_EQ(CompactionBytesPerSecond(Second(300, 0, 750), kLimits), 152'500'000);
  EXPECT_EQ(CompactionBytesPerSecond(Second(300, 0, 0, 75), kLimits), 152'500'000);
  EXPECT_EQ(CompactionBytesPerSecond(Second(300, 0, 1000), kLimits), 400 * kMega);
  EXPECT_EQ(CompactionBytesPerSecond(Second(300, 0, 5000), kLimits), 400 * kMega);
}

TEST(ProportionalTest, IgnoresDebtWithoutABound) {
  GovernorLimits unbounded = kLimits;
  unbounded.debt_bytes = unbounded.debt_runs = 0;
  EXPECT_EQ(CompactionBytesPerSecond(Second(300, 0, 5000, 5000), unbounded), 70 * kMega);
}

// Returns the merge for tables from the newest to the oldest: `s` has 1 byte, `B` 50 bytes, `x` 1 byte and is
// pinned.
Level0Merge MergeIn(const std::string& tables, uint64_t max_bytes) {
  std::vector<Level0Table> level;
  for (const char each : tables) {
    level.push_back({each == 'B' ? uint64_t{50} : uint64_t{1}, each == 'x'});
  }
  return NextLevel0Merge(level, max_bytes);
}

TEST(Level0MergeTest, MergesTheMaximumNumberOfAdjacentTables) {
  EXPECT_EQ(MergeIn("ssssssssss", 25), (Level0Merge{0, 10}));
  EXPECT_EQ(MergeIn("BssssssssssB", 25), (Level0Merge{1, 10}));
  EXPECT_EQ(MergeIn("BssssssssssB", 60), (Level0Merge{1, 11})) << "the oldest of equal merges";
  EXPECT_EQ(MergeIn("ssssssssssss", 9), (Level0Merge{3, 9}));
}

TEST(Level0MergeTest, DoesNotCrossPinnedTables) {
  EXPECT_EQ(MergeIn("sssssssssxssssssss", 100), (Level0Merge{0, 9}));
  EXPECT_EQ(MergeIn("xxxxxxxxxxxx", 100), Level0Merge());
}

TEST(Level0MergeTest, DoesNotMergeFewerThanEight) {
  EXPECT_EQ(MergeIn("", 100), Level0Merge());
  EXPECT_EQ(MergeIn("sssssss", 100), Level0Merge());
  EXPECT_EQ(MergeIn("sssssssBBBssssssss", 25), (Level0Merge{10, 8}));
  EXPECT_EQ(MergeIn("ssssssssssss", 7), Level0Merge()) << "eight do not fit";
}

TEST(Level0MergeTest, PauseEndsWithTheMergesOrNearTheBoundOfBytes) {
  GovernorLimits limits;
  limits.debt_bytes = 100;
  limits.debt_runs = 100;
  const auto next = [&](bool paused, bool merging, uint64_t pending_bytes, uint64_t sorted_runs) {
    GovernorSample owed;
    owed.pending_bytes = pending_bytes;
    owed.sorted_runs = sorted_runs;
    return ShouldPauseForMerges(paused, merging, owed, limits);
  };
  EXPECT_FALSE(next(false, false, 0, 0));
  EXPECT_TRUE(next(false, true, 49, 0));
  EXPECT_FALSE(next(false, true, 50, 0));
  EXPECT_TRUE(next(true, true, 69, 0));
  EXPECT_FALSE(next(true, true, 70, 0));
  EXPECT_FALSE(next(true, false, 0, 0));
  EXPECT_TRUE(next(true, true, 69, 200)) << "the bound of runs does not end the pause";
  limits.debt_bytes = 0;
  EXPECT_TRUE(next(true, true, 1000, 0)) << "no bound of bytes";
}

TEST(GovernorPolicyTest, DeviceReadShareIsWhatThePageCacheDidNotAnswer) {
  EXPECT_DOUBLE_EQ(DeviceReadShare(8 << 20, 2 << 20, 1), 0.25);
  EXPECT_DOUBLE_EQ(DeviceReadShare(8 << 20, 9 << 20, 0.5), 1) << "readahead";
  EXPECT_DOUBLE_EQ(DeviceReadShare(1000, 0, 0.5), 0.5) << "too little to say";
}

TEST(GovernorPolicyTest, SyncedWritesRaiseTheBandwidth) {
  GovernorSample sample;
  sample.seconds = 2;
  sample.flush_bytes = 100;
  sample.compaction_write_bytes = 200;
  sample.compaction_read_bytes = 10'000;  // perhaps from the page cache
  sample.wal_bytes = 10'000;              // perhaps not synced
  EXPECT_EQ(RaisedBandwidth(140, sample), 150u);
  EXPECT_EQ(RaisedBandwidth(160, sample), 160u);
}

}  // namespace
}  // namespace rocktune
