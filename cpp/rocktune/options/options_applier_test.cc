#include "rocktune/options/options_applier.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/utilities/options_util.h>

#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rocktune/flsm/fake_flsm_store.h"
#include "rocktune/governor/fake_governed_db.h"
#include "rocktune/options/watched_text.h"

namespace rocktune {
namespace {

// A database that refuses a column family's SetOptions, or lets it have no effect.
class PickyDb : public rocksdb::StackableDB {
 public:
  explicit PickyDb(rocksdb::DB* db) : StackableDB(db) {}
  using StackableDB::SetOptions;
  rocksdb::Status SetOptions(rocksdb::ColumnFamilyHandle* family,
                             const std::unordered_map<std::string, std::string>& options) override {
    if (++calls > max_calls || family->GetName() == refused) {
      return rocksdb::Status::IOError("no more options");
    }
    return family->GetName() == reverted ? rocksdb::Status::OK() : StackableDB::SetOptions(family, options);
  }
  std::string refused;   // name of the column family whose options are refused
  std::string reverted;  // name of the one whose options are taken without effect
  int calls = 0;
  int max_calls = std::numeric_limits<int>::max();  // later ones are refused
};

class OptionsApplierTest : public GovernedDbTest {
 protected:
  ~OptionsApplierTest() override {
    applier_.reset();
    for (rocksdb::ColumnFamilyHandle* each : handles_) {
      picky_->DestroyColumnFamilyHandle(each).PermitUncheckedError();
    }
  }

  // Opens the database and makes an applier for its default column family.
  void OpenDefault() {
    Open();
    Make(db_.get(), {});
  }
  // Opens the database with the column families "default" and "second", as picky_.
  void OpenFamilies() {
    Open();
    picky_ = std::make_unique<PickyDb>(db_.release());
    rocksdb::ColumnFamilyHandle* second = nullptr;
    ASSERT_TRUE(picky_->CreateColumnFamily(db_options_, "second", &second).ok());
    handles_ = {second};
    Make(picky_.get(), {picky_->DefaultColumnFamily(), second});
  }
  void Make(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& families) {
    applier_ = std::make_unique<OptionsApplier>(db, families);
    ASSERT_TRUE(applier_->TakeOriginals().ok());
  }
  OptionsReport Apply(const std::string& text) { return applier_->Apply(text); }
  // Applies options of the default column family.
  OptionsReport ApplyFamily(const std::string& options) { return Apply(FamilyText(options)); }
  void ExpectRefused(const std::string& text, const std::string& reason) {
    const OptionsReport report = Apply(text);
    EXPECT_EQ(report.outcome, OptionsOutcome::kRefused) << text;
    EXPECT_NE(report.reason.find(reason), std::string::npos) << report.reason;
    EXPECT_TRUE(report.changes.empty());
  }

  std::unique_ptr<PickyDb> picky_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::unique_ptr<OptionsApplier> applier_;
};

TEST_F(OptionsApplierTest, SetsDatabaseAndFamily) {
  OpenDefault();
  const OptionsReport report = Apply(
      WatchedText("[DBOptions]\n max_background_jobs=5\n[CFOptions \"default\"]\n write_buffer_size=1M\n"
                  " compaction_options_universal={size_ratio=7;}\n"));
  EXPECT_EQ(report.outcome, OptionsOutcome::kApplied) << report.reason;
  ASSERT_EQ(report.changes.size(), 3u);
  EXPECT_EQ(report.changes[0].where + " " + report.changes[0].name, "db max_background_jobs");
  EXPECT_EQ(report.changes[0].before, "2");
  EXPECT_EQ(report.changes[0].after, "5");
  EXPECT_EQ(report.changes[2].where + " " + report.changes[2].name, "cf default write_buffer_size");
  EXPECT_EQ(db_->GetDBOptions().max_background_jobs, 5);
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 1u << 20);
  EXPECT_EQ(db_->GetOptions().compaction_options_universal.size_ratio, 7u);
}

TEST_F(OptionsApplierTest, WhatIsInForceIsNotSetAgain) {
  OpenFamilies();
  EXPECT_EQ(ApplyFamily("write_buffer_size=1M").outcome, OptionsOutcome::kApplied);
  EXPECT_EQ(picky_->calls, 1);
  EXPECT_TRUE(ApplyFamily("write_buffer_size=1048576").changes.empty());
  EXPECT_EQ(picky_->calls, 1);
}

TEST_F(OptionsApplierTest, AnOlderFileRestores) {
  db_options_.write_buffer_size = 3 << 20;
  OpenDefault();
  ApplyFamily("write_buffer_size=1M\nmax_write_buffer_number=4");
  ApplyFamily("max_write_buffer_number=5");
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 3u << 20) << "left out, so as it was at the beginning";
  ApplyFamily("write_buffer_size=1M\nmax_write_buffer_number=4");
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 1u << 20);
  EXPECT_EQ(db_->GetOptions().max_write_buffer_number, 4);
  EXPECT_EQ(Apply(WatchedText("")).changes.size(), 2u);
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 3u << 20);
  EXPECT_EQ(db_->GetOptions().max_write_buffer_number, 2);
}

TEST_F(OptionsApplierTest, ChangesObjects) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(8 << 20);
  db_options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  db_options_.rate_limiter.reset(rocksdb::NewGenericRateLimiter(1 << 20));
  db_options_.db_write_buffer_size = 64 << 20;
  OpenDefault();
  const std::string larger = WatchedText(
      "[DBOptions]\nrate_limiter_bytes_per_sec=2M\ndb_write_buffer_size=128M\n"
      "[TableOptions/BlockBasedTable \"default\"]\nblock_cache=16M\n");
  EXPECT_EQ(Apply(larger).outcome, OptionsOutcome::kApplied) << Apply(larger).reason;
  EXPECT_EQ(table.block_cache->GetCapacity(), 16u << 20);
  EXPECT_EQ(db_options_.rate_limiter->GetBytesPerSecond(), 2 << 20);
  EXPECT_EQ(db_->GetDBOptions().write_buffer_manager->buffer_size(), 128u << 20);
  EXPECT_EQ(Apply(WatchedText("")).outcome, OptionsOutcome::kApplied);
  EXPECT_EQ(table.block_cache->GetCapacity(), 8u << 20);
  EXPECT_EQ(db_->GetDBOptions().write_buffer_manager->buffer_size(), 64u << 20);
}

TEST_F(OptionsApplierTest, ChangesTablesWhereRocksDbReplacesTheirFactory) {
  OpenDefault();
  const OptionsReport report =
      Apply(WatchedText("[TableOptions/BlockBasedTable \"default\"]\nblock_size=8192\n"));
  EXPECT_EQ(report.outcome, ReplacesTableFactory() ? OptionsOutcome::kApplied : OptionsOutcome::kRefused);
  const rocksdb::Options options = db_->GetOptions();
  EXPECT_EQ(options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_size,
            ReplacesTableFactory() ? 8192u : 4096u);
}

TEST_F(OptionsApplierTest, RefusesWhatItCannotSet) {
  OpenDefault();
  std::string id;
  ASSERT_TRUE(db_->GetDbIdentity(id).ok());
  const auto db = [](const std::string& options) { return WatchedText("[DBOptions]\n" + options + "\n"); };
  const OptionMaps before = LiveOptions(db_.get(), {}).Read();
  ExpectRefused(WatchedText("[Database]\nid=other\n"), "it is for the database with id other");
  ExpectRefused(WatchedText("[CFOptions \"x\"]\nttl=1\n"), "cf x ttl: the watcher has no such column family");
  ExpectRefused(FamilyText("no_such=1"), "cf default no_such: RocksDB " + RocksDbVersion() + " has no such");
  ExpectRefused(FamilyText("num_levels=9"), "cf default num_levels: it cannot be changed while the database");
  ExpectRefused(FamilyText("write_buffer_size=-1"), "RocksDB reads it as '18446744073709551615'");
  ExpectRefused(FamilyText("write_buffer_size=0x10"), "write_buffer_size: RocksDB reads it as '0'");
  ExpectRefused(FamilyText("compression=kNoSuch"), "cf default compression: ");
  ExpectRefused(FamilyText("level0_stop_writes_trigger=3"), "level0_stop_writes_trigger must not be below");
  ExpectRefused(FamilyText("write_buffer_size=128K"), "must not be below arena_block_size; set both");
  ExpectRefused(FamilyText("max_write_buffer_number=0"), "max_write_buffer_number must be at least 2");
  ExpectRefused(db("max_background_jobs=0"), "max_background_jobs must be at least 1");
  ExpectRefused(db("use_fsync=true"), "db use_fsync: it cannot be changed");
  ExpectRefused(db("rate_limiter_bytes_per_sec=1M"), "the database was opened without a rate limiter");
  ExpectRefused(db("db_write_buffer_size=1M"), "the database was opened without it");
  ExpectRefused(WatchedText("[TableOptions/BlockBasedTable \"default\"]\nblock_cache=0\n"),
                "table default block_cache: its value must be a number of bytes above 0");
  EXPECT_TRUE(LiveOptions(db_.get(), {}).Read() == before);
  EXPECT_EQ(Apply(WatchedText("[Database]\nid=" + id + "\n")).outcome, OptionsOutcome::kApplied);
}

TEST_F(OptionsApplierTest, RollsBackWhatAnotherFamilyRefuses) {
  OpenFamilies();
  picky_->refused = "second";
  const OptionsReport report = Apply(
      WatchedText("[DBOptions]\nmax_background_jobs=5\n[CFOptions \"default\"]\nwrite_buffer_size=1M\n"
                  "[CFOptions \"second\"]\nwrite_buffer_size=2M\n[TableOptions/BlockBasedTable \"default\"]\n"
                  "block_cache=1M\n"));
  EXPECT_EQ(report.outcome, OptionsOutcome::kRolledBack);
  EXPECT_NE(report.reason.find("RocksDB refuses column family 'second': write_buffer_size=2M"),
            std::string::npos)
      << report.reason;
  EXPECT_EQ(picky_->GetDBOptions().max_background_jobs, 2);
  EXPECT_EQ(picky_->GetOptions().write_buffer_size, rocksdb::Options().write_buffer_size);
  picky_->refused.clear();
  EXPECT_EQ(ApplyFamily("max_write_buffer_number=3").changes.size(), 1u) << "nothing else was left changed";
}

TEST_F(OptionsApplierTest, RollsBackWhatIsReverted) {
  OpenFamilies();
  picky_->reverted = "second";
  const OptionsReport report = Apply(WatchedText(
      "[CFOptions \"default\"]\nwrite_buffer_size=1M\n[CFOptions \"second\"]\nwrite_buffer_size=2M\n"));
  EXPECT_EQ(report.outcome, OptionsOutcome::kRolledBack);
  EXPECT_NE(report.reason.find("cf second write_buffer_size was set and has another value now"),
            std::string::npos)
      << report.reason;
  EXPECT_EQ(picky_->GetOptions().write_buffer_size, rocksdb::Options().write_buffer_size);
}

TEST_F(OptionsApplierTest, SaysIfTheOldOptionsCannotBeSetAgain) {
  OpenFamilies();
  picky_->max_calls = 1;  // the first family's change is made; the second one's and the way back are refused
  const OptionsReport report = Apply(WatchedText(
      "[CFOptions \"default\"]\nwrite_buffer_size=1M\n[CFOptions \"second\"]\nwrite_buffer_size=2M\n"));
  EXPECT_EQ(report.outcome, OptionsOutcome::kRollbackFailed);
  EXPECT_NE(report.reason.find("; restoring: "), std::string::npos) << report.reason;
}

TEST_F(OptionsApplierTest, ASharedCacheHasOneCapacity) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(8 << 20);
  db_options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  OpenFamilies();
  const std::string head = "[TableOptions/BlockBasedTable \"default\"]\nblock_cache=16M\n";
  ExpectRefused(WatchedText(head + "[TableOptions/BlockBasedTable \"second\"]\nblock_cache=8M\n"),
                "share a block cache; give it one capacity");
  EXPECT_EQ(table.block_cache->GetCapacity(), 8u << 20);
  EXPECT_EQ(
      Apply(WatchedText(head + "[TableOptions/BlockBasedTable \"second\"]\nblock_cache=16777216\n")).outcome,
      OptionsOutcome::kApplied);
}

TEST_F(OptionsApplierTest, LowerTriggersWaitUntilTheyStopNothing) {
  db_options_.disable_auto_compactions = true;
  OpenDefault();
  for (int table = 0; table < 5; ++table) {
    WriteAndFlush();
  }
  const OptionsReport report = ApplyFamily(
      "level0_slowdown_writes_trigger=5\nlevel0_stop_writes_trigger=30\nwrite_buffer_size=1M\n"
      "level0_file_num_compaction_trigger=3");
  EXPECT_EQ(report.outcome, OptionsOutcome::kWaiting);
  EXPECT_EQ(report.waiting, (std::vector<std::string>{"cf default level0_slowdown_writes_trigger",
                                                      "cf default level0_stop_writes_trigger"}));
  EXPECT_NE(report.reason.find("level 0 of column family 'default' has 5 files"), std::string::npos);
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 1u << 20);
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 21);
  EXPECT_EQ(applier_->ApplyWaiting().outcome, OptionsOutcome::kWaiting);
  ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
  EXPECT_EQ(applier_->ApplyWaiting().changes.size(), 2u);
  EXPECT_EQ(db_->GetOptions().level0_slowdown_writes_trigger, 5);
  EXPECT_FALSE(applier_->waiting());
}

TEST_F(OptionsApplierTest, AGovernorsOptionsWaitUntilItIsDetached) {
  CreateAndAttach(GovernorMode::kProportional);
  Make(db_.get(), {});
  const int raised = db_->GetOptions().level0_stop_writes_trigger;
  const std::string text = "level0_stop_writes_trigger=40\nwrite_buffer_size=1M";
  EXPECT_EQ(ApplyFamily(text).outcome, OptionsOutcome::kWaiting);
  EXPECT_EQ(db_->GetOptions().level0_stop_writes_trigger, raised);
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 1u << 20);
  ExpectRefused(WatchedText("[DBOptions]\nrate_limiter_bytes_per_sec=1M\n"), "the CompactionGovernor is the");
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_EQ(applier_->ApplyWaiting().outcome, OptionsOutcome::kApplied);
  EXPECT_EQ(db_->GetOptions().level0_stop_writes_trigger, 40);
  // What a file without it restores is what the database had before the governor.
  Apply(WatchedText(""));
  EXPECT_EQ(db_->GetOptions().level0_stop_writes_trigger, rocksdb::Options().level0_stop_writes_trigger);
}

TEST_F(OptionsApplierTest, ThousandBadFilesChangeNothing) {
  OpenDefault();
  const OptionMaps before = LiveOptions(db_.get(), {}).Read();
  const std::vector<std::string> bad = {"level0_slowdown_writes_trigger=40\nlevel0_stop_writes_trigger=30",
                                        "write_buffer_size=-1",
                                        "max_write_buffer_number=-3",
                                        "num_levels=3",
                                        "target_file_size_base=0x10",
                                        "nothing=1"};
  std::mt19937 random(1);
  for (int number = 0; number < 1000; ++number) {
    std::string text = FamilyText("write_buffer_size=" + std::to_string(2'000'000 + number));
    switch (number % 4) {
      case 0:  // truncated
        text.resize(random() % text.size());
        break;
      case 1:  // a flipped bit
        text[random() % text.size()] ^= static_cast<char>(1 << random() % 7);
        break;
      case 2:  // bytes of something else
        for (char& each : text) {
          each = static_cast<char>(random());
        }
        break;
      default:
        text = FamilyText("max_background_flushes=3\nttl=77\n" + bad[random() % bad.size()]);
    }
    ASSERT_EQ(Apply(text).outcome, OptionsOutcome::kRefused) << text;
  }
  EXPECT_TRUE(LiveOptions(db_.get(), {}).Read() == before);
}

// Returns the number of open descriptors of this process.
std::ptrdiff_t Descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

using SlowOptionsApplierTest = OptionsApplierTest;

TEST_F(SlowOptionsApplierTest, AlternatingFilesLeakNothing) {
  OpenDefault();
  const auto apply = [this](int number) {
    const std::string jobs = std::to_string(2 + number % 2);
    const OptionsReport report =
        Apply(WatchedText("[DBOptions]\nmax_background_jobs=" + jobs +
                          "\n[CFOptions \"default\"]\nmax_write_buffer_number=" + jobs));
    ASSERT_EQ(report.outcome, OptionsOutcome::kApplied) << report.reason;
  };
  for (int number = 0; number < 20; ++number) {
    apply(number);
  }
  const std::ptrdiff_t descriptors = Descriptors();
  const std::size_t bytes = mallinfo2().uordblks;
  for (int number = 0; number < 200; ++number) {
    apply(number);
  }
  EXPECT_LE(Descriptors(), descriptors);
  // 200 leaks of one set of options, as text, would be 2 MiB.
  EXPECT_LE(mallinfo2().uordblks, bytes + (512 << 10));
}

using OptionsApplierFlsmTest = FlsmStoreTest;

TEST_F(OptionsApplierFlsmTest, AStoreRefusesItsOwnOptions) {
  ASSERT_TRUE(Open(Layout({1})).ok());
  OptionsApplier applier(store_.get(), {});
  ASSERT_TRUE(applier.TakeOriginals().ok());
  EXPECT_EQ(applier.Apply(FamilyText("write_buffer_size=1M\ntarget_file_size_base=128K")).outcome,
            OptionsOutcome::kApplied);
  EXPECT_EQ(store_->GetOptions().write_buffer_size, 1u << 20);
  const OptionsReport report =
      applier.Apply(FamilyText("write_buffer_size=2M\ndisable_auto_compactions=true"));
  EXPECT_EQ(report.outcome, OptionsOutcome::kRolledBack) << report.reason;
  EXPECT_EQ(store_->GetOptions().write_buffer_size, 1u << 20);
  EXPECT_EQ(store_->GetOptions().target_file_size_base, 128u << 10);
}

}  // namespace
}  // namespace rocktune
