// A GovernedDb attaches families that are created later, and detaches those that go.

#include "rocktune/governed_db.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rocktune/governor/fake_governed_db.h"

namespace rocktune {
namespace {

class GovernedDbWrapperTest : public GovernedDbTest {
 protected:
  using Family = rocksdb::ColumnFamilyHandle;

  ~GovernedDbWrapperTest() override { governed_.reset(); }

  // Opens a database and hands it to a GovernedDb.
  void OpenGoverned(GovernorMode mode) {
    Create(Options(mode));
    shared_ = std::move(governor_);
    rocksdb::Options options = db_options_;
    options.create_if_missing = true;
    shared_->Prepare(&options);
    std::unique_ptr<rocksdb::DB> db;
    ASSERT_TRUE(OpenDatabase(options, directory_, &db).ok());
    ASSERT_TRUE(GovernedDb::Attach(shared_, db.get(), {}, kNoWait, &governed_).ok());
    static_cast<void>(db.release());
  }
  // Returns the slowdown trigger of a family: 750 if it is governed.
  int Trigger(Family* family) const { return governed_->GetOptions(family).level0_slowdown_writes_trigger; }
  // Creates a family whose own slowdown trigger is 30.
  Family* NewFamily(const std::string& name) {
    rocksdb::ColumnFamilyOptions options;
    options.level0_slowdown_writes_trigger = 30;
    Family* family = nullptr;
    EXPECT_TRUE(governed_->CreateColumnFamily(options, name, &family).ok());
    return family;
  }

  std::shared_ptr<CompactionGovernor> shared_;
  std::unique_ptr<GovernedDb> governed_;
};

TEST_F(GovernedDbWrapperTest, GovernsFamiliesThatAreCreatedLater) {
  OpenGoverned(GovernorMode::kProportional);
  EXPECT_EQ(Trigger(governed_->DefaultColumnFamily()), 750);
  Family* later = NewFamily("later");
  std::vector<Family*> more;
  ASSERT_TRUE(governed_->CreateColumnFamilies(rocksdb::ColumnFamilyOptions(), {"b", "c"}, &more).ok());
  for (Family* family : {later, more[0], more[1]}) {
    EXPECT_EQ(Trigger(family), 750) << family->GetName();
  }
  EXPECT_TRUE(governed_->AttachFailure().ok());
  for (Family* family : {later, more[0], more[1]}) {
    EXPECT_TRUE(governed_->DestroyColumnFamilyHandle(family).ok());
  }
}

TEST_F(GovernedDbWrapperTest, AFamilyThatGoesHasItsOwnOptionsAgain) {
  OpenGoverned(GovernorMode::kProportional);
  Family* later = NewFamily("later");
  ASSERT_TRUE(shared_->DetachFamily(governed_.get(), later).ok());
  EXPECT_EQ(Trigger(later), 30);
  EXPECT_EQ(Trigger(governed_->DefaultColumnFamily()), 750);
  EXPECT_TRUE(shared_->DetachFamily(governed_.get(), later).ok()) << "it is not attached";
  EXPECT_TRUE(governed_->DestroyColumnFamilyHandle(later).ok());
}

TEST_F(GovernedDbWrapperTest, TheGovernorOutlivesDroppedFamilies) {
  OpenGoverned(GovernorMode::kToggle);
  Family* later = NewFamily("later");
  ASSERT_TRUE(governed_->DropColumnFamily(later).ok());
  ASSERT_TRUE(governed_->DestroyColumnFamilyHandle(later).ok());
  const uint64_t before = shared_->Counters().intervals;
  clock_->Advance(kSecond);
  while (shared_->Counters().intervals == before) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(shared_->Counters().last.status.ok());
  EXPECT_EQ(shared_->Counters().failed_changes, 0u);
}

TEST_F(GovernedDbWrapperTest, FamiliesThatCannotBeGovernedAreLeftAlone) {
  OpenGoverned(GovernorMode::kProportional);
  rocksdb::ColumnFamilyOptions options;
  options.compaction_style = rocksdb::kCompactionStyleFIFO;
  Family* fifo = nullptr;
  ASSERT_TRUE(governed_->CreateColumnFamily(options, "fifo", &fifo).ok());
  EXPECT_TRUE(governed_->AttachFailure().ok());
  options = rocksdb::ColumnFamilyOptions();
  options.level0_file_num_compaction_trigger = 900;  // debt_runs is 1000
  options.level0_slowdown_writes_trigger = 950;
  options.level0_stop_writes_trigger = 990;
  Family* refused = nullptr;
  ASSERT_TRUE(governed_->CreateColumnFamily(options, "refused", &refused).ok());
  EXPECT_TRUE(governed_->AttachFailure().IsInvalidArgument()) << governed_->AttachFailure().ToString();
  EXPECT_EQ(Trigger(refused), 950);
  for (Family* family : {fifo, refused}) {
    EXPECT_TRUE(governed_->DestroyColumnFamilyHandle(family).ok());
  }
}

TEST_F(GovernedDbWrapperTest, CloseRestoresTheOptions) {
  OpenGoverned(GovernorMode::kProportional);
  ASSERT_TRUE(governed_->Close().ok());
  governed_.reset();
  Open();
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/ROCKTUNE_GOVERNOR"));
}

TEST_F(GovernedDbWrapperTest, ARefusedDatabaseStaysTheCallers) {
  Open();  // without the governor's limiter
  Create(Options(GovernorMode::kToggle));
  shared_ = std::move(governor_);
  EXPECT_TRUE(GovernedDb::Attach(shared_, db_.get(), {}, kNoWait, &governed_).IsInvalidArgument());
  EXPECT_EQ(governed_, nullptr);
  EXPECT_TRUE(db_->Put(rocksdb::WriteOptions(), "key", "value").ok());
}

}  // namespace
}  // namespace rocktune
