// Attaching databases to a governor, and detaching them.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "rocktune/governor/fake_governed_db.h"

namespace rocktune {
namespace {

class AttachingTest : public GovernedDbTest {
 protected:
  void CreateWithDebtRuns(uint64_t debt_runs) {
    GovernorOptions options = Options(GovernorMode::kProportional);
    options.debt_runs = debt_runs;
    options.merge_level0 = false;
    Create(options);
  }
};

// RocksDB asserts that compaction of level 0 begins before writes are slowed: debt_runs has a minimum.
TEST_F(AttachingTest, AttachRefusesTooFewDebtRuns) {
  db_options_.level0_file_num_compaction_trigger = 10;
  for (const uint64_t debt_runs : {1, 10, 13}) {
    CreateWithDebtRuns(debt_runs);
    Open();
    const rocksdb::Status status = governor_->Attach(db_.get());
    EXPECT_TRUE(status.IsInvalidArgument()) << debt_runs;
    EXPECT_NE(status.ToString().find("debt_runs to at least 14"), std::string::npos) << status.ToString();
    EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
    governor_.reset();
    db_.reset();
  }
  CreateWithDebtRuns(14);
  Open();
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 11);
  EXPECT_EQ(db_->GetOptions().level0_stop_writes_trigger, 14);
}

TEST_F(AttachingTest, DetachKeepsTriggersAboveARaisedCompactionTrigger) {
  Create(Options(GovernorMode::kToggle));
  Open();
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  ASSERT_TRUE(db_->SetOptions({{"level0_file_num_compaction_trigger", "40"}}).ok());
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 40);
  EXPECT_EQ(db_->GetOptions().level0_stop_writes_trigger, 40);
}

TEST_F(AttachingTest, AttachRefusesCompactionStylesNoneAndFifo) {
  for (const rocksdb::CompactionStyle style :
       {rocksdb::kCompactionStyleNone, rocksdb::kCompactionStyleFIFO}) {
    db_options_.compaction_style = style;
    CreateWithDebtRuns(1000);
    std::filesystem::remove_all(directory_);
    Open();
    const rocksdb::Options before = db_->GetOptions();
    const rocksdb::Status status = governor_->Attach(db_.get());
    EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
    EXPECT_EQ(db_->GetOptions().level0_stop_writes_trigger, before.level0_stop_writes_trigger);
    governor_.reset();
    db_.reset();
  }
}

TEST_F(AttachingTest, AttachesAllColumnFamiliesOrNone) {
  Create(Options(GovernorMode::kToggle));
  Open();
  rocksdb::ColumnFamilyOptions options;
  options.compaction_style = rocksdb::kCompactionStyleNone;
  rocksdb::ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options, "other", &other).ok());
  EXPECT_TRUE(governor_->Attach(db_.get(), {db_->DefaultColumnFamily(), other}).IsNotSupported());
  EXPECT_TRUE(governor_->Attach(db_.get(), {db_->DefaultColumnFamily(), db_->DefaultColumnFamily()})
                  .IsInvalidArgument());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
  EXPECT_TRUE(governor_->Attach(db_.get()).ok());
  EXPECT_TRUE(db_->DestroyColumnFamilyHandle(other).ok());
}

TEST_F(AttachingTest, AReadOnlyDatabaseIsRefusedAndUnchanged) {
  Open();
  WriteAndFlush();
  db_.reset();
  CreateWithDebtRuns(1000);
  rocksdb::Options options = db_options_;
  governor_->Prepare(&options);
  std::unique_ptr<rocksdb::DB> opened;
  ASSERT_TRUE(OpenDatabaseReadOnly(options, directory_, &opened).ok());
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(directory_),
                         std::filesystem::directory_iterator());
  };
  const auto before = files();
  EXPECT_TRUE(governor_->Attach(opened.get()).IsNotSupported());
  EXPECT_TRUE(CompactionGovernor::Recover(opened.get()).IsNotSupported());
  EXPECT_EQ(files(), before);
}

TEST_F(AttachingTest, DetachReportsDebtThatSlowsWrites) {
  CreateWithDebtRuns(1000);
  Open();
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  const BlockedCompactions blocked;
  for (int table = 0; table < 40; ++table) {
    WriteAndFlush();
  }
  const rocksdb::Status status = governor_->Detach(db_.get(), std::chrono::milliseconds(30));
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
  EXPECT_NE(status.ToString().find("40 files in level 0"), std::string::npos) << status.ToString();
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21) << "the options are restored nevertheless";
  EXPECT_TRUE(governor_->Detach(db_.get(), kNoWait).ok()) << "nothing is attached";
}

TEST_F(AttachingTest, DetachWaitsUntilLevel0IsSmall) {
  for (const GovernorMode mode : {GovernorMode::kToggle, GovernorMode::kProportional}) {
    GovernorOptions options = Options(mode);
    options.device_bytes_per_s = 50;  // a limit under which the compactions would take hours
    options.merge_level0 = false;
    Create(options);
    Open();
    ASSERT_TRUE(governor_->Attach(db_.get()).ok());
    WriteAndFlush();
    PassInterval();
    for (int table = 0; table < 40; ++table) {
      WriteAndFlush();
    }
    const rocksdb::Status status = governor_->Detach(db_.get(), std::chrono::milliseconds::max());
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_LT(Level0Tables(), 21);
    EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
    EXPECT_FALSE(CompactionsOff());
    governor_.reset();
    db_.reset();
  }
}

TEST_F(AttachingTest, DetachDoesNotWaitForCompactionsThatTheApplicationSwitchedOff) {
  CreateWithDebtRuns(1000);
  Open();
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  for (int table = 0; table < 40; ++table) {
    WriteAndFlush();
  }
  EXPECT_TRUE(governor_->Detach(db_.get(), std::chrono::milliseconds::max()).ok());
  EXPECT_TRUE(CompactionsOff());
}

TEST_F(AttachingTest, OtherDatabasesStayGovernedWhileOneIsDetached) {
  Create(Options(GovernorMode::kToggle));
  Open();
  const std::unique_ptr<FaultInjectionDb> first = std::move(db_);
  ASSERT_TRUE(governor_->Attach(first.get()).ok());
  auto blocked = std::make_unique<BlockedCompactions>();
  rocksdb::Options options = db_options_;
  options.create_if_missing = true;
  governor_->Prepare(&options);
  std::unique_ptr<rocksdb::DB> opened;
  const std::string second_directory = directory_ + ".second";
  ASSERT_TRUE(OpenDatabase(options, second_directory, &opened).ok());
  db_ = std::make_unique<FaultInjectionDb>(opened.release());
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  for (int table = 0; table < 40; ++table) {
    ASSERT_TRUE(first->Put(rocksdb::WriteOptions(), "key", "value").ok());
    ASSERT_TRUE(first->Flush(rocksdb::FlushOptions()).ok());
  }
  std::future<rocksdb::Status> detached =
      std::async(std::launch::async, [&] { return governor_->Detach(first.get(), std::chrono::hours(1)); });
  WriteAndFlush();
  PassInterval();  // does not return if Detach holds the governor's lock while it waits
  EXPECT_TRUE(CompactionsOff());
  while (first->GetOptions().disable_auto_compactions) {  // the interval may have ended before Detach began
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(detached.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  governor_->StopLimiting();  // compactions would wait for ever, since the clock stands still
  blocked.reset();
  EXPECT_TRUE(detached.get().ok());
  EXPECT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  db_.reset();
  std::filesystem::remove_all(second_directory);
}

}  // namespace
}  // namespace rocktune
