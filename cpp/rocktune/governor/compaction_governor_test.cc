#include "rocktune/compaction_governor.h"

#include <gtest/gtest.h>

#include "rocktune/governor/fake_governed_db.h"

namespace rocktune {
namespace {

class CompactionGovernorTest : public GovernedDbTest {};

TEST_F(CompactionGovernorTest, RefusesWhatMakesNoSense) {
  GovernorOptions options = Options(GovernorMode::kToggle);
  options.device_bytes_per_s = 0;
  EXPECT_TRUE(CompactionGovernor::Create(options, &governor_).IsInvalidArgument());
  options = Options(GovernorMode::kToggle);
  options.interval_us = 0;
  EXPECT_TRUE(CompactionGovernor::Create(options, &governor_).IsInvalidArgument());
  options = Options(GovernorMode::kToggle);
  options.watermarks.total_share = 1.5;
  EXPECT_TRUE(CompactionGovernor::Create(options, &governor_).IsInvalidArgument());
  EXPECT_EQ(governor_, nullptr);
}

TEST_F(CompactionGovernorTest, TriggersAreTheBoundsWhileItIsAttached) {
  CreateAndAttach(GovernorMode::kProportional);
  rocksdb::Options options = db_->GetOptions();
  EXPECT_EQ(options.level0_slowdown_writes_trigger, 750);
  EXPECT_EQ(options.level0_stop_writes_trigger, 1000);
  EXPECT_EQ(options.soft_pending_compaction_bytes_limit, uint64_t{192} << 30);
  EXPECT_EQ(options.hard_pending_compaction_bytes_limit, uint64_t{256} << 30);
  EXPECT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  options = db_->GetOptions();
  const rocksdb::Options defaults;
  EXPECT_EQ(options.level0_slowdown_writes_trigger, 21);
  EXPECT_EQ(options.level0_stop_writes_trigger, defaults.level0_stop_writes_trigger);
  EXPECT_EQ(options.soft_pending_compaction_bytes_limit, defaults.soft_pending_compaction_bytes_limit);
  EXPECT_EQ(options.hard_pending_compaction_bytes_limit, defaults.hard_pending_compaction_bytes_limit);
  EXPECT_TRUE(governor_->Detach(db_.get(), kNoWait).ok()) << "nothing is attached";
}

TEST_F(CompactionGovernorTest, ADatabaseWithoutItsLimiterOrAttachedTwiceIsRefused) {
  Open();
  Create(Options(GovernorMode::kToggle));
  EXPECT_TRUE(governor_->Attach(db_.get()).IsInvalidArgument());
  db_.reset();
  Open();
  EXPECT_TRUE(governor_->Attach(db_.get()).ok());
  EXPECT_TRUE(governor_->Attach(db_.get()).IsInvalidArgument());
  std::unique_ptr<CompactionGovernor> second;
  ASSERT_TRUE(CompactionGovernor::Create(Options(GovernorMode::kToggle), &second).ok());
  EXPECT_TRUE(second->Attach(db_.get()).IsInvalidArgument());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 750) << "the first still has it";
}

TEST_F(CompactionGovernorTest, TogglesWithTheLoadAndCountsIt) {
  CreateAndAttach(GovernorMode::kToggle);
  WriteAndFlush();
  PassInterval();
  EXPECT_TRUE(CompactionsOff());
  PassInterval();  // nothing was written
  EXPECT_FALSE(CompactionsOff());
  const GovernorCounters counters = governor_->Counters();
  EXPECT_EQ(counters.switched_off, 1);
  EXPECT_EQ(counters.switched_on, 1);
  EXPECT_GE(counters.last.sample.seconds, 1);
}

TEST_F(CompactionGovernorTest, SeesFlushesLogAndDebt) {
  GovernorOptions options = Options(GovernorMode::kToggle);
  std::vector<GovernorDecision> decisions;
  options.on_decision = [&](const GovernorDecision& decision) { decisions.push_back(decision); };
  Create(options);
  Open();
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  WriteAndFlush();
  PassInterval();
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  const GovernorSample& sample = decisions.front().sample;
  EXPECT_GT(sample.flush_bytes, 1000);  // compressed
  EXPECT_GT(sample.wal_bytes, 100'000);
  EXPECT_EQ(sample.sorted_runs, 1);
  EXPECT_EQ(sample.compaction_write_bytes, 0);
  EXPECT_GT(decisions.front().flush_share, 1);
}

TEST_F(CompactionGovernorTest, CompactionsThatItSlowsGoOnWhenItIsDetached) {
  GovernorOptions options = Options(GovernorMode::kProportional);
  options.device_bytes_per_s = 50;  // hours for what follows
  Create(options);
  Open();
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  WriteAndFlush();
  WriteAndFlush();
  PassInterval();
  EXPECT_EQ(governor_->Counters().last.compaction_bytes_per_s, 1);
  std::thread compaction(
      [&] { EXPECT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok()); });
  EXPECT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  compaction.join();
}

TEST_F(CompactionGovernorTest, WhatItIsDestroyedWithIsGivenBack) {
  CreateAndAttach(GovernorMode::kToggle);
  WriteAndFlush();
  PassInterval();
  EXPECT_TRUE(CompactionsOff());
  governor_.reset();
  EXPECT_FALSE(CompactionsOff());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
}

TEST_F(CompactionGovernorTest, ARefusedChangeIsToldAndTriedAgain) {
  CreateAndAttach(GovernorMode::kToggle);
  WriteAndFlush();
  db_->refuses = true;
  PassInterval();
  EXPECT_FALSE(CompactionsOff());
  EXPECT_EQ(governor_->Counters().failed_changes, 1);
  EXPECT_TRUE(governor_->Counters().last.status.IsIOError());
  EXPECT_TRUE(governor_->Detach(db_.get(), kNoWait).IsIOError());
  db_->refuses = false;
  EXPECT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
  db_->refuses = true;
  EXPECT_TRUE(governor_->Attach(db_.get()).IsIOError());
}

TEST_F(CompactionGovernorTest, AClockThatJumpsDecidesNothing) {
  CreateAndAttach(GovernorMode::kToggle);
  WriteAndFlush();
  for (const int64_t jump : {1000 * kSecond, -2000 * kSecond}) {
    const uint64_t before = governor_->Counters().discarded_intervals;
    clock_->Advance(jump);
    while (governor_->Counters().discarded_intervals == before) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  EXPECT_FALSE(CompactionsOff());
  WriteAndFlush();
  PassInterval();
  EXPECT_TRUE(CompactionsOff()) << "afterwards it goes on";
}

TEST_F(CompactionGovernorTest, ColumnFamiliesOptIn) {
  Create(Options(GovernorMode::kToggle));
  Open();
  rocksdb::ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), "other", &other).ok());
  ASSERT_TRUE(governor_->Attach(db_.get(), {other}).ok());
  WriteAndFlush();
  PassInterval();
  EXPECT_TRUE(db_->GetOptions(other).disable_auto_compactions);
  EXPECT_FALSE(CompactionsOff());
  EXPECT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_TRUE(db_->DestroyColumnFamilyHandle(other).ok());
}

TEST_F(CompactionGovernorTest, WhoseCompactionsAreOffAnywayKeepsThemOff) {
  Create(Options(GovernorMode::kToggle));
  Open();
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  PassInterval();
  EXPECT_TRUE(CompactionsOff());
}

TEST_F(CompactionGovernorTest, WhatItsUserSwitchesOffMeanwhileStaysOff) {
  CreateAndAttach(GovernorMode::kToggle);
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  WriteAndFlush();
  PassInterval();
  PassInterval();
  EXPECT_TRUE(CompactionsOff());
  EXPECT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_TRUE(CompactionsOff());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
}

TEST_F(CompactionGovernorTest, WhatIsOwedAlreadyStopsNobodyAtOnce) {
  GovernorOptions options = Options(GovernorMode::kProportional);
  options.debt_runs = 6;
  Create(options);
  Open();
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  for (int table = 0; table < 9; ++table) {
    WriteAndFlush();
  }
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  EXPECT_EQ(db_->GetOptions().level0_stop_writes_trigger, 13) << "nine are three quarters of 12";
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 10);
}

// RocksDB's own compaction of level 0, begun before, is in the way of merges until it ends. If another began
// meanwhile it would be in the way as well, and so on.
TEST_F(CompactionGovernorTest, CountersDoNotWaitForAChangeOfOptions) {
  CreateAndAttach(GovernorMode::kToggle);
  WriteAndFlush();
  db_->changing = false;
  db_->hangs = true;
  clock_->Advance(kSecond);
  while (!db_->changing) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(governor_->Counters().switched_off, 0);
  db_->hangs = false;
}

TEST_F(CompactionGovernorTest, SpeaksPrometheus) {
  CreateAndAttach(GovernorMode::kToggle);
  WriteAndFlush();
  PassInterval();
  const std::string text = governor_->PrometheusText();
  EXPECT_NE(text.find("# TYPE rocktune_governor_switched_off_total counter\n"), std::string::npos);
  EXPECT_NE(text.find("\nrocktune_governor_compactions_off 1.0"), std::string::npos) << text;
}

}  // namespace
}  // namespace rocktune
