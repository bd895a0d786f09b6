#include "rocktune/governor/compaction_governor.h"

#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/utilities/stackable_db.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/governor/fake_clock.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr int64_t kSecond = FakeClock::kSecond;

// Refuses changes of options, or makes them wait, while it is told to.
class RefusingDb : public rocksdb::StackableDB {
 public:
  explicit RefusingDb(rocksdb::DB* db) : StackableDB(db) {}
  using StackableDB::SetOptions;
  rocksdb::Status SetOptions(rocksdb::ColumnFamilyHandle* family,
                             const std::unordered_map<std::string, std::string>& options) override {
    for (changing = true; hangs;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return refuses ? rocksdb::Status::IOError("no more options") : StackableDB::SetOptions(family, options);
  }
  using StackableDB::CompactFiles;
  rocksdb::Status CompactFiles(const rocksdb::CompactionOptions& options, rocksdb::ColumnFamilyHandle* family,
                               const std::vector<std::string>& names, const int level, const int path,
                               std::vector<std::string>* const written,
                               rocksdb::CompactionJobInfo* job) override {
    ++merges;
    if (merges_meet == Meet::kNothing) {
      return StackableDB::CompactFiles(options, family, names, level, path, written, job);
    }
    return merges_meet == Meet::kAnotherCompaction ? rocksdb::Status::Aborted("a running compaction")
                                                   : rocksdb::Status::IOError("no merges");
  }
  enum class Meet { kNothing, kAnotherCompaction, kAnError };
  std::atomic<Meet> merges_meet{Meet::kNothing};
  std::atomic<int> merges{0};
  std::atomic<bool> refuses{false};
  std::atomic<bool> hangs{false};
  std::atomic<bool> changing{false};
};

// While it lives, no compaction of RocksDB's own begins, for it keeps the one thread that there is for them.
class HeldCompactions {
 public:
  HeldCompactions() {
    rocksdb::Env::Default()->SetBackgroundThreads(1, rocksdb::Env::Priority::LOW);
    rocksdb::Env::Default()->Schedule(&HeldCompactions::Hold, new std::shared_ptr<Gate>(gate_),
                                      rocksdb::Env::Priority::LOW);
    gate_->held.get_future().wait();
  }
  ~HeldCompactions() { gate_->release.set_value(); }
  HeldCompactions(const HeldCompactions&) = delete;
  HeldCompactions& operator=(const HeldCompactions&) = delete;

 private:
  struct Gate {
    std::promise<void> held;
    std::promise<void> release;
  };

  static void Hold(void* gate) {
    const std::unique_ptr<std::shared_ptr<Gate>> owned(static_cast<std::shared_ptr<Gate>*>(gate));
    (*owned)->held.set_value();
    (*owned)->release.get_future().wait();
  }

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

class CompactionGovernorTest : public testing::Test {
 protected:
  ~CompactionGovernorTest() override {
    governor_.reset();
    db_.reset();
    std::filesystem::remove_all(directory_);
  }

  GovernorOptions Options(GovernorMode mode) {
    GovernorOptions options;
    options.mode = mode;
    options.device_bytes_per_s = 1'000'000;
    options.max_flush_bytes_per_s = 1000;  // any flush is a peak
    options.interval_us = 1'000'000;
    options.clock = clock_;
    return options;
  }

  void Create(const GovernorOptions& options) {
    ASSERT_TRUE(CompactionGovernor::Create(options, &governor_).ok());
  }

  void Open() {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.level0_slowdown_writes_trigger = 21;
    if (governor_ != nullptr) {
      governor_->Prepare(&options);
    }
    std::unique_ptr<rocksdb::DB> opened;
    const rocksdb::Status status = OpenDatabase(options, directory_, &opened);
    ASSERT_TRUE(status.ok()) << status.ToString();
    db_ = std::make_unique<RefusingDb>(opened.release());
  }

  void CreateAndAttach(GovernorMode mode) {
    Create(Options(mode));
    Open();
    ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  }

  void WriteAndFlush() {
    for (int key = 0; key < 100; ++key) {
      ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), std::to_string(key), std::string(1000, 'v')).ok());
    }
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }

  // Lets an interval pass, and waits until it has been decided.
  void PassInterval() {
    const uint64_t before = Decided();
    clock_->Advance(kSecond);
    while (Decided() == before) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  uint64_t Decided() const {
    const GovernorCounters counters = governor_->Counters();
    return counters.intervals + counters.discarded_intervals;
  }
  bool CompactionsOff() const { return db_->GetOptions().disable_auto_compactions; }

  static std::string NewDirectory() {
    std::string pattern = testing::TempDir() + "governor-XXXXXX";
    return mkdtemp(pattern.data());
  }

  const std::string directory_ = NewDirectory();
  std::shared_ptr<FakeClock> clock_ = std::make_shared<FakeClock>();
  std::unique_ptr<RefusingDb> db_;
  std::unique_ptr<CompactionGovernor> governor_;
};

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
  EXPECT_TRUE(governor_->Detach(db_.get()).ok());
  options = db_->GetOptions();
  const rocksdb::Options defaults;
  EXPECT_EQ(options.level0_slowdown_writes_trigger, 21);
  EXPECT_EQ(options.level0_stop_writes_trigger, defaults.level0_stop_writes_trigger);
  EXPECT_EQ(options.soft_pending_compaction_bytes_limit, defaults.soft_pending_compaction_bytes_limit);
  EXPECT_EQ(options.hard_pending_compaction_bytes_limit, defaults.hard_pending_compaction_bytes_limit);
  EXPECT_TRUE(governor_->Detach(db_.get()).ok()) << "nothing is attached";
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
  ASSERT_TRUE(governor_->Detach(db_.get()).ok());
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
  EXPECT_TRUE(governor_->Detach(db_.get()).ok());
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
  EXPECT_TRUE(governor_->Detach(db_.get()).IsIOError());
  db_->refuses = false;
  EXPECT_TRUE(governor_->Detach(db_.get()).ok());
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
  EXPECT_TRUE(governor_->Detach(db_.get()).ok());
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
  EXPECT_TRUE(governor_->Detach(db_.get()).ok());
  EXPECT_TRUE(CompactionsOff());
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
}

TEST_F(CompactionGovernorTest, WhatIsOwedAlreadyStopsNobodyAtOnce) {
  GovernorOptions options = Options(GovernorMode::kProportional);
  options.debt_runs = 4;
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

TEST_F(CompactionGovernorTest, ManySmallTablesBecomeFewBeforeCompactionsGoOn) {
  GovernorOptions options = Options(GovernorMode::kProportional);
  options.device_bytes_per_s = 1'000'000'000;  // the clock stands still while they are merged
  Create(options);
  Open();
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  const HeldCompactions held;  // or they would keep up
  for (int table = 0; table < 30; ++table) {
    WriteAndFlush();
  }
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "7", "newest").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  PassInterval();
  EXPECT_TRUE(CompactionsOff());
  while (governor_->Counters().level0_merges == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(governor_->Counters().level0_merged_tables, 31) << "they are small enough for one merge";
  std::string tables;
  ASSERT_TRUE(db_->GetProperty(rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0", &tables));
  EXPECT_EQ(tables, "1");
  std::string value;
  ASSERT_TRUE(db_->Get(rocksdb::ReadOptions(), "7", &value).ok());
  EXPECT_EQ(value, "newest");
  PassInterval();
  EXPECT_FALSE(CompactionsOff());
  EXPECT_EQ(governor_->Counters().switched_on, 1);
}

TEST_F(CompactionGovernorTest, MergesThatFailDoNotKeepCompactionsOff) {
  CreateAndAttach(GovernorMode::kProportional);
  const HeldCompactions held;
  for (int table = 0; table < 30; ++table) {
    WriteAndFlush();
  }
  db_->merges_meet = RefusingDb::Meet::kAnError;
  bool went_on = false;
  for (int interval = 0; interval < 1000 && !went_on; ++interval) {
    PassInterval();
    went_on = !CompactionsOff();
  }
  EXPECT_TRUE(went_on);
}

// RocksDB's own compaction of level 0, begun before, is in the way of merges until it ends. If another began
// meanwhile it would be in the way as well, and so on.
TEST_F(CompactionGovernorTest, CompactionsStayOffWhileAMergeWaitsForOneThatRuns) {
  GovernorOptions options = Options(GovernorMode::kProportional);
  options.device_bytes_per_s = 1'000'000'000;
  Create(options);
  Open();
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  const HeldCompactions held;
  for (int table = 0; table < 30; ++table) {
    WriteAndFlush();
  }
  db_->merges_meet = RefusingDb::Meet::kAnotherCompaction;
  while (db_->merges < 20) {
    PassInterval();
    EXPECT_TRUE(CompactionsOff());
  }
  db_->merges_meet = RefusingDb::Meet::kNothing;
  PassInterval();
  while (governor_->Counters().level0_merges == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_F(CompactionGovernorTest, AMergeThatItSlowsEndsWhenItIsDetached) {
  GovernorOptions options = Options(GovernorMode::kProportional);
  options.device_bytes_per_s = 50;
  Create(options);
  Open();
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  const HeldCompactions held;
  for (int table = 0; table < 30; ++table) {
    WriteAndFlush();
  }
  PassInterval();
  EXPECT_TRUE(governor_->Detach(db_.get()).ok());
  EXPECT_FALSE(CompactionsOff());
  EXPECT_LE(governor_->Counters().level0_merges, 1);
}

TEST_F(CompactionGovernorTest, WhoWantsNoMergesGetsNone) {
  GovernorOptions options = Options(GovernorMode::kProportional);
  options.merge_level0 = false;
  Create(options);
  Open();
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  const HeldCompactions held;
  for (int table = 0; table < 30; ++table) {
    WriteAndFlush();
  }
  PassInterval();
  EXPECT_FALSE(CompactionsOff()) << "of a proportional governor they are on";
  EXPECT_EQ(governor_->Counters().level0_merges, 0);
}

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
