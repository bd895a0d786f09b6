// A governor survives the application's own changes of the options that it sets.

#include <gtest/gtest.h>

#include <string>

#include "rocktune/compaction_governor.h"
#include "rocktune/governor/fake_governed_db.h"
#include "rocktune/governor/original_options.h"

namespace rocktune {
namespace {

class ChangedOptionsTest : public GovernedDbTest {
 protected:
  void Set(const std::string& name, const std::string& value) {
    ASSERT_TRUE(db_->StackableDB::SetOptions(db_->DefaultColumnFamily(), {{name, value}}).ok());
  }
};

TEST_F(ChangedOptionsTest, TriggersAreRaisedAgainAndRestoredAsTheApplicationSetThem) {
  CreateAndAttach(GovernorMode::kProportional);
  Set("level0_slowdown_writes_trigger", "25");
  Set("soft_pending_compaction_bytes_limit", "12345");
  PassInterval();
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 750);
  EXPECT_EQ(db_->GetOptions().soft_pending_compaction_bytes_limit, uint64_t{192} << 30);
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 25);
  EXPECT_EQ(db_->GetOptions().soft_pending_compaction_bytes_limit, 12345);
  EXPECT_EQ(db_->GetOptions().level0_stop_writes_trigger, rocksdb::Options().level0_stop_writes_trigger);
}

TEST_F(ChangedOptionsTest, ATriggerSetBackToTheOriginalIsRaisedAgain) {
  CreateAndAttach(GovernorMode::kProportional);
  Set("level0_slowdown_writes_trigger", "21");
  PassInterval();
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 750);
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
}

TEST_F(ChangedOptionsTest, AChangeRightBeforeDetachCounts) {
  CreateAndAttach(GovernorMode::kProportional);
  Set("level0_slowdown_writes_trigger", "25");
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 25);
}

TEST_F(ChangedOptionsTest, TheOriginalOptionsOnDiskFollow) {
  CreateAndAttach(GovernorMode::kProportional);
  Set("level0_slowdown_writes_trigger", "25");
  PassInterval();
  OriginalsByFamily originals;
  ASSERT_TRUE(ReadOriginals(db_.get(), &originals).ok());
  EXPECT_EQ(originals.at(rocksdb::kDefaultColumnFamilyName).options.level0_slowdown_writes_trigger, 25);
  EXPECT_EQ(originals.at(rocksdb::kDefaultColumnFamilyName).bounds.size(), 1u);
}

TEST_F(ChangedOptionsTest, RaisingThatFailsIsRetried) {
  CreateAndAttach(GovernorMode::kProportional);
  Set("level0_slowdown_writes_trigger", "25");
  db_->fails_set_options = true;
  PassInterval();
  EXPECT_EQ(governor_->Counters().failed_changes, 1u);
  EXPECT_TRUE(governor_->Counters().last.status.IsIOError());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 25);
  db_->fails_set_options = false;
  PassInterval();
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 750);
}

TEST_F(ChangedOptionsTest, CompactionsThatTheApplicationSwitchesOnMayBeSwitchedOffAgain) {
  CreateAndAttach(GovernorMode::kToggle);
  WriteAndFlush();
  PassInterval();
  ASSERT_TRUE(CompactionsOff());
  Set("disable_auto_compactions", "false");
  WriteAndFlush();
  PassInterval();
  EXPECT_TRUE(CompactionsOff()) << "the load is still high";
  Set("disable_auto_compactions", "false");
  PassInterval();  // nothing was written
  EXPECT_FALSE(CompactionsOff());
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_FALSE(CompactionsOff());
}

}  // namespace
}  // namespace rocktune
