#include "rocktune/compaction_governor.h"

#include <gtest/gtest.h>

#include "rocktune/governor/fake_governed_db.h"

namespace rocktune {
namespace {

class CompactionGovernorTest : public GovernedDbTest {};

TEST_F(CompactionGovernorTest, RefusesOptionsOutOfRange) {
  GovernorOptions options = Options(GovernorMode::kToggle);
  options.interval_us = 0;
  EXPECT_TRUE(CompactionGovernor::Create(options, &governor_).IsInvalidArgument());
  options = Options(GovernorMode::kToggle);
  options.watermarks.total_share = 1.5;
  EXPECT_TRUE(CompactionGovernor::Create(options, &governor_).IsInvalidArgument());
  EXPECT_EQ(governor_, nullptr);
}

TEST_F(CompactionGovernorTest, TriggersFollowTheDebtBoundsWhileAttached) {
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

TEST_F(CompactionGovernorTest, AttachRefusesAForeignLimiterAndASecondAttach) {
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
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 750) << "still attached to the first governor";
}

TEST_F(CompactionGovernorTest, SwitchesCompactionsWithTheLoad) {
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

TEST_F(CompactionGovernorTest, DrainsSwitchCompactionsForAllFamilies) {
  // The bucket refills in real time, so the governor takes the real clock too.
  GovernorOptions options = Options(GovernorMode::kDrains);
  options.clock = nullptr;
  options.interval_us = 100'000;
  options.max_flush_bytes_per_s = 1;  // the least: 4 KiB in each refill of a millisecond
  options.watermarks = {0.01, 0.01};  // so that any drain of a flush is a peak
  options.debt_bytes = options.debt_runs = 0;
  db_options_.compression = rocksdb::kNoCompression;
  Create(options);
  Open();
  rocksdb::ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), "other", &other).ok());
  ASSERT_TRUE(governor_->Attach(db_.get(), {db_->DefaultColumnFamily(), other}).ok());
  EXPECT_EQ(db_->GetOptions().level0_stop_writes_trigger, 1 << 30);
  EXPECT_EQ(db_->GetOptions().hard_pending_compaction_bytes_limit, 0);
  WriteAndFlush();
  while (governor_->Counters().switched_off == 0) {
    WriteAndFlush();
  }
  EXPECT_TRUE(CompactionsOff());
  EXPECT_TRUE(db_->GetOptions(other).disable_auto_compactions);
  EXPECT_EQ(governor_->Counters().last.compaction_bytes_per_s, 0) << "compactions have no limit of their own";
  EXPECT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_FALSE(CompactionsOff());
  EXPECT_TRUE(db_->DestroyColumnFamilyHandle(other).ok());
}

TEST_F(CompactionGovernorTest, SamplesFlushesWalAndDebt) {
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
  EXPECT_GT(sample.flush_bytes, 1000);  // 100,000 bytes, compressed
  EXPECT_GT(sample.wal_bytes, 100'000);
  EXPECT_EQ(sample.sorted_runs, 1);
  EXPECT_EQ(sample.compaction_write_bytes, 0);
  EXPECT_GT(decisions.front().flush_share, 1);
}

TEST_F(CompactionGovernorTest, DetachReleasesLimitedCompactions) {
  GovernorOptions options = Options(GovernorMode::kProportional);
  options.device_bytes_per_s = 50;  // a limit under which the compaction would take hours
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

TEST_F(CompactionGovernorTest, DestructorRestoresOptions) {
  CreateAndAttach(GovernorMode::kToggle);
  WriteAndFlush();
  PassInterval();
  EXPECT_TRUE(CompactionsOff());
  governor_.reset();
  EXPECT_FALSE(CompactionsOff());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
}

TEST_F(CompactionGovernorTest, AFailedChangeIsReportedAndRetried) {
  CreateAndAttach(GovernorMode::kToggle);
  WriteAndFlush();
  db_->fails_set_options = true;
  PassInterval();
  EXPECT_FALSE(CompactionsOff());
  EXPECT_EQ(governor_->Counters().failed_changes, 1);
  EXPECT_TRUE(governor_->Counters().last.status.IsIOError());
  EXPECT_TRUE(governor_->Detach(db_.get(), kNoWait).IsIOError());
  db_->fails_set_options = false;
  EXPECT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
  db_->fails_set_options = true;
  EXPECT_TRUE(governor_->Attach(db_.get()).IsIOError());
}

TEST_F(CompactionGovernorTest, AClockJumpDiscardsTheInterval) {
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
  EXPECT_TRUE(CompactionsOff()) << "the next interval counts";
}

TEST_F(CompactionGovernorTest, GovernsOnlyTheNamedColumnFamilies) {
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

TEST_F(CompactionGovernorTest, CompactionsOffBeforeAttachStayOff) {
  Create(Options(GovernorMode::kToggle));
  Open();
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  PassInterval();
  EXPECT_TRUE(CompactionsOff());
}

TEST_F(CompactionGovernorTest, CompactionsOffSinceAttachStayOff) {
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

TEST_F(CompactionGovernorTest, DebtAtAttachDoesNotStopWrites) {
  GovernorOptions options = Options(GovernorMode::kProportional);
  options.debt_runs = 6;
  Create(options);
  Open();
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  for (int table = 0; table < 9; ++table) {
    WriteAndFlush();
  }
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  EXPECT_EQ(db_->GetOptions().level0_stop_writes_trigger, 13)
      << "9 tables are 0.75 of 12, so writes stop above 12";
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 10);
}

TEST_F(CompactionGovernorTest, CountersDoNotWaitForAChangeOfOptions) {
  CreateAndAttach(GovernorMode::kToggle);
  WriteAndFlush();
  db_->set_options_called = false;
  db_->blocks_set_options = true;
  clock_->Advance(kSecond);
  while (!db_->set_options_called) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(governor_->Counters().switched_off, 0);
  db_->blocks_set_options = false;
}

TEST_F(CompactionGovernorTest, PrintsPrometheusText) {
  CreateAndAttach(GovernorMode::kToggle);
  WriteAndFlush();
  PassInterval();
  const std::string text = governor_->PrometheusText();
  EXPECT_NE(text.find("# TYPE rocktune_governor_switched_off_total counter\n"), std::string::npos);
  EXPECT_NE(text.find("\nrocktune_governor_compactions_off 1.0"), std::string::npos) << text;
}

}  // namespace
}  // namespace rocktune
