// The original options survive the governor's process, and are restored.

#include "rocktune/governor/original_options.h"

#include <gtest/gtest.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/options_util.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/governor/fake_governed_db.h"

namespace rocktune {
namespace {

class OriginalOptionsTest : public GovernedDbTest {
 protected:
  ~OriginalOptionsTest() override { CloseOther(); }

  // Leaves the database as a process does that is killed while a governor has switched compactions off.
  void KillWhileCompactionsAreOff() {
    CreateAndAttach(GovernorMode::kToggle);
    SimulateKill();
  }
  void SimulateKill() {
    WriteAndFlush();
    PassInterval();
    ASSERT_TRUE(CompactionsOff());
    db_->fails_set_options = true;  // the destructor's changes as well
    governor_.reset();
    CloseOther();
    db_.reset();
  }
  void CloseOther() {
    if (other_ != nullptr) {
      EXPECT_TRUE(db_->DestroyColumnFamilyHandle(other_).ok());
      other_ = nullptr;
    }
  }

  // Opens a database with the options of its OPTIONS file, as some programs do.
  void Load(const std::string& directory) {
    rocksdb::DBOptions db_options;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    rocksdb::Status status =
        rocksdb::LoadLatestOptions(rocksdb::ConfigOptions(), directory, &db_options, &families);
    ASSERT_TRUE(status.ok()) << status.ToString();
    rocksdb::Options options(db_options, rocksdb::ColumnFamilyOptions());
    if (governor_ != nullptr) {
      governor_->Prepare(&options);
    }
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    std::unique_ptr<rocksdb::DB> opened;
    status = OpenColumnFamilies(options, directory, families, &handles, &opened);
    ASSERT_TRUE(status.ok()) << status.ToString();
    db_ = std::make_unique<FaultInjectionDb>(opened.release());
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handles.front()).ok());
    other_ = handles.size() > 1 ? handles[1] : nullptr;
  }

  void ExpectOriginals(rocksdb::ColumnFamilyHandle* family, int slowdown_trigger = 21) {
    const rocksdb::Options now = db_->GetOptions(family);
    const rocksdb::Options defaults;
    EXPECT_FALSE(now.disable_auto_compactions);
    EXPECT_EQ(now.level0_slowdown_writes_trigger, slowdown_trigger);
    EXPECT_EQ(now.level0_stop_writes_trigger, defaults.level0_stop_writes_trigger);
    EXPECT_EQ(now.soft_pending_compaction_bytes_limit, defaults.soft_pending_compaction_bytes_limit);
    EXPECT_EQ(now.hard_pending_compaction_bytes_limit, defaults.hard_pending_compaction_bytes_limit);
  }
  void ExpectOriginals() { ExpectOriginals(db_->DefaultColumnFamily()); }

  std::string OriginalsPath() const { return directory_ + "/" + kOriginalOptionsFile; }

  rocksdb::ColumnFamilyHandle* other_ = nullptr;
};

TEST_F(OriginalOptionsTest, ANewGovernorRestoresOptionsAfterAKill) {
  KillWhileCompactionsAreOff();
  for (int time = 0; time < 2; ++time) {  // a second kill loses nothing either
    Create(Options(GovernorMode::kToggle));
    Load(directory_);
    EXPECT_TRUE(CompactionsOff());
    ASSERT_TRUE(governor_->Attach(db_.get()).ok());
    EXPECT_FALSE(CompactionsOff()) << "Attach switches compactions on";
    SimulateKill();
  }
  Create(Options(GovernorMode::kProportional));
  Load(directory_);
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  ExpectOriginals();
}

TEST_F(OriginalOptionsTest, OriginalsSurviveChangesOfTheBounds) {
  KillWhileCompactionsAreOff();
  for (const uint64_t debt_runs : {500, 0, 2000}) {
    GovernorOptions options = Options(GovernorMode::kToggle);
    options.debt_runs = debt_runs;
    options.debt_bytes = debt_runs << 20;
    Create(options);
    Load(directory_);
    db_->fails_set_options = true;  // as if killed between the file and the first change
    EXPECT_FALSE(governor_->Attach(db_.get()).ok());
    governor_.reset();
    db_.reset();
  }
  Create(Options(GovernorMode::kToggle));
  Load(directory_);
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  ExpectOriginals();
}

TEST_F(OriginalOptionsTest, EachColumnFamilyHasItsOwnOriginals) {
  Create(Options(GovernorMode::kToggle));
  Open();
  rocksdb::ColumnFamilyOptions options;
  options.level0_slowdown_writes_trigger = 25;
  const std::string name = "other \xff";  // a name may have any bytes
  ASSERT_TRUE(db_->CreateColumnFamily(options, name, &other_).ok());
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  ASSERT_TRUE(governor_->Attach(db_.get(), {other_}).ok());
  SimulateKill();

  Create(Options(GovernorMode::kToggle));
  Load(directory_);
  ASSERT_TRUE(governor_->Attach(db_.get(), {other_}).ok());
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  ExpectOriginals(other_, 25);
  EXPECT_TRUE(CompactionsOff()) << "the default family is not attached";
  ASSERT_TRUE(CompactionGovernor::Recover(db_.get()).ok());
  ExpectOriginals();
  EXPECT_FALSE(std::filesystem::exists(OriginalsPath()));
}

TEST_F(OriginalOptionsTest, RecoverRestoresOptionsWithoutAGovernor) {
  KillWhileCompactionsAreOff();
  Load(directory_);
  ASSERT_TRUE(CompactionGovernor::Recover(db_.get()).ok());
  ExpectOriginals();
  EXPECT_FALSE(std::filesystem::exists(OriginalsPath()));
  ASSERT_TRUE(CompactionGovernor::Recover(db_.get()).ok()) << "a second call changes nothing";
  ExpectOriginals();
}

TEST_F(OriginalOptionsTest, OptionsGivenAtOpenAreKept) {
  KillWhileCompactionsAreOff();
  db_options_.level0_slowdown_writes_trigger = 30;
  db_options_.disable_auto_compactions = true;
  Open();
  ASSERT_TRUE(CompactionGovernor::Recover(db_.get()).ok());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 30);
  EXPECT_TRUE(CompactionsOff());
  db_.reset();
  Create(Options(GovernorMode::kToggle));
  Open();
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 30);
  EXPECT_TRUE(CompactionsOff());
}

TEST_F(OriginalOptionsTest, DetachAndDestructorDeleteTheFile) {
  CreateAndAttach(GovernorMode::kToggle);
  EXPECT_TRUE(std::filesystem::exists(OriginalsPath()));
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_FALSE(std::filesystem::exists(OriginalsPath()));
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  governor_.reset();
  EXPECT_FALSE(std::filesystem::exists(OriginalsPath()));
}

TEST_F(OriginalOptionsTest, ACopyWithTheFileCanBeRecovered) {
  CreateAndAttach(GovernorMode::kToggle);
  WriteAndFlush();
  PassInterval();
  rocksdb::Checkpoint* raw = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(db_.get(), &raw).ok());
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
  const std::string copy = directory_ + ".copy";
  std::filesystem::remove_all(copy);
  ASSERT_TRUE(checkpoint->CreateCheckpoint(copy).ok());
  std::filesystem::copy(OriginalsPath(), copy);
  governor_.reset();
  Load(copy);
  EXPECT_TRUE(CompactionsOff());
  EXPECT_TRUE(CompactionGovernor::Recover(db_.get()).ok());
  ExpectOriginals();
  db_.reset();
  std::filesystem::remove_all(copy);
}

TEST_F(OriginalOptionsTest, AnUnparsableFileIsNotReplaced) {
  Create(Options(GovernorMode::kToggle));
  Open();
  for (const std::string text : {"no JSON", "{}", R"({"format": 2, "column_families": []})",
                                 R"({"format": 1, "column_families": [{"name_hex": "6"}]})"}) {
    ASSERT_TRUE(rocksdb::WriteStringToFile(db_->GetEnv(), text, OriginalsPath()).ok());
    const rocksdb::Status status = governor_->Attach(db_.get());
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find(kOriginalOptionsFile), std::string::npos) << status.ToString();
    EXPECT_TRUE(CompactionGovernor::Recover(db_.get()).IsCorruption());
  }
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
}

}  // namespace
}  // namespace rocktune
