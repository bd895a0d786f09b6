#include "rocktune/governor/level0_merger.h"

#include <gtest/gtest.h>
#include <rocksdb/sst_file_writer.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "rocktune/governor/fake_governed_db.h"

namespace rocktune {
namespace {

class Level0MergerTest : public GovernedDbTest {
 protected:
  // Attaches a governor that merges level 0 without limiting it.
  void OpenAndAttach() {
    GovernorOptions options = Options(GovernorMode::kProportional);
    options.device_bytes_per_s = 1'000'000'000;  // the clock stands still while tables are merged
    Create(options);
    Open();
    ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  }

  // Puts a table below level 0. Without one, RocksDB would set all sequence numbers of a merged table to 0.
  void FillALevelBelow() {
    WriteAndFlush();
    ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
    ASSERT_EQ(Level0Tables(), 0);
  }

  // Fills a memtable with keys that no other function here writes. It is not flushed, since two are needed.
  void FillOneMemtable() {
    uint64_t waiting = 0;
    for (int key = 0; waiting == 0; ++key) {
      ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "z" + std::to_string(key), std::string(1000, 'v')).ok());
      ASSERT_TRUE(db_->GetIntProperty(rocksdb::DB::Properties::kNumImmutableMemTable, &waiting));
    }
  }

  // Ingests a file with one key, which overlaps level 0 and no memtable.
  void Ingest(const std::string& key, const std::string& value) {
    const std::string path = directory_ + ".ingested";
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), db_options_);
    ASSERT_TRUE(writer.Open(path).ok());
    ASSERT_TRUE(writer.Put(key, value).ok());
    ASSERT_TRUE(writer.Finish().ok());
    ASSERT_TRUE(db_->IngestExternalFile({path}, rocksdb::IngestExternalFileOptions()).ok());
    std::filesystem::remove(path);
  }

  void WaitForMerge() {
    PassInterval();
    while (governor_->Counters().level0_merges == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void ExpectValue(const std::string& key, const std::string& expected) {
    std::string value;
    const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), key, &value);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(value, expected) << key;
  }
};

TEST_F(Level0MergerTest, SmallTablesAreMergedBeforeCompactionsContinue) {
  OpenAndAttach();
  const BlockedCompactions blocked;  // so that level 0 grows
  for (int table = 0; table < 30; ++table) {
    WriteAndFlush();
  }
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "7", "newest").ok());
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "8", "newest").ok());
  ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  PassInterval();
  EXPECT_TRUE(CompactionsOff());
  while (governor_->Counters().level0_merges == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(governor_->Counters().level0_merged_tables, 31) << "they are small enough for one merge";
  EXPECT_EQ(Level0Tables(), 1);
  ExpectValue("7", "newest");
  PassInterval();
  EXPECT_FALSE(CompactionsOff());
  EXPECT_EQ(governor_->Counters().switched_on, 1);
}

TEST_F(Level0MergerTest, FailedMergesDoNotKeepCompactionsOff) {
  CreateAndAttach(GovernorMode::kProportional);
  const BlockedCompactions blocked;
  for (int table = 0; table < 30; ++table) {
    WriteAndFlush();
  }
  db_->merge_fault = FaultInjectionDb::MergeFault::kIOError;
  bool went_on = false;
  for (int interval = 0; interval < 1000 && !went_on; ++interval) {
    PassInterval();
    went_on = !CompactionsOff();
  }
  EXPECT_TRUE(went_on);
}

// If RocksDB's next compaction could begin when the running one ends, it would block the merge again.
TEST_F(Level0MergerTest, CompactionsStayOffWhileARunningOneBlocksTheMerge) {
  OpenAndAttach();
  const BlockedCompactions blocked;
  for (int table = 0; table < 30; ++table) {
    WriteAndFlush();
  }
  db_->merge_fault = FaultInjectionDb::MergeFault::kAborted;
  while (db_->merges < 20) {
    PassInterval();
    EXPECT_TRUE(CompactionsOff());
  }
  db_->merge_fault = FaultInjectionDb::MergeFault::kNone;
  PassInterval();
  while (governor_->Counters().level0_merges == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_F(Level0MergerTest, DetachReleasesALimitedMerge) {
  GovernorOptions options = Options(GovernorMode::kProportional);
  options.device_bytes_per_s = 50;
  Create(options);
  Open();
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  const BlockedCompactions blocked;
  for (int table = 0; table < 30; ++table) {
    WriteAndFlush();
  }
  PassInterval();
  // The merge may or may not have begun, so level 0 has 30 tables or few.
  const rocksdb::Status detached = governor_->Detach(db_.get(), kNoWait);
  EXPECT_TRUE(detached.ok() || detached.IsIncomplete()) << detached.ToString();
  EXPECT_FALSE(CompactionsOff());
  EXPECT_LE(governor_->Counters().level0_merges, 1);
}

TEST_F(Level0MergerTest, DoesNotMergeIfSwitchedOff) {
  GovernorOptions options = Options(GovernorMode::kProportional);
  options.merge_level0 = false;
  Create(options);
  Open();
  ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  const BlockedCompactions blocked;
  for (int table = 0; table < 30; ++table) {
    WriteAndFlush();
  }
  PassInterval();
  EXPECT_FALSE(CompactionsOff()) << "proportional mode switches them off for merges alone";
  EXPECT_EQ(governor_->Counters().level0_merges, 0);
}

// RocksDB before 7.10 refuses to open a database if a level-0 table has sequence numbers on both sides of
// another's. An ingested file's number is newer than memtables that are not flushed yet.
TEST_F(Level0MergerTest, AnIngestedFileIsNotMergedWithOlderTables) {
  db_options_.min_write_buffer_number_to_merge = 2;
  db_options_.max_write_buffer_number = 6;
  db_options_.write_buffer_size = 256 << 10;
  OpenAndAttach();
  FillALevelBelow();
  const BlockedCompactions blocked;
  for (int table = 0; table < 25; ++table) {
    WriteAndFlush();
  }
  FillOneMemtable();
  Ingest("50", "ingested");
  WaitForMerge();
  EXPECT_EQ(governor_->Counters().level0_merged_tables, OrdersLevel0ByEpoch() ? 26 : 25);
  const rocksdb::Status flushed = db_->Flush(rocksdb::FlushOptions());
  ASSERT_TRUE(flushed.ok()) << flushed.ToString();
  ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "51", "later").ok());
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  governor_.reset();
  db_.reset();
  Open();
  ExpectValue("50", "ingested");
  ExpectValue("51", "later");
  ExpectValue("z0", std::string(1000, 'v'));
}

TEST_F(Level0MergerTest, IngestedFilesAreNotMergedWithEachOther) {
  db_options_.min_write_buffer_number_to_merge = 2;
  db_options_.max_write_buffer_number = 6;
  db_options_.write_buffer_size = 256 << 10;
  OpenAndAttach();
  FillALevelBelow();
  const BlockedCompactions blocked;
  FillOneMemtable();
  for (int file = 0; file < 25; ++file) {
    Ingest(std::to_string(file), "ingested");
  }
  PassInterval();
  for (int interval = 0; CompactionsOff() && interval < 1000; ++interval) {
    PassInterval();  // until all merges are done
  }
  FillOneMemtable();  // its flush has sequence numbers on both sides of the ingested ones
  const rocksdb::Status flushed = db_->Flush(rocksdb::FlushOptions());
  ASSERT_TRUE(flushed.ok()) << flushed.ToString();
  // Without merges level 0 keeps its tables, since RocksDB's compactions are blocked.
  const rocksdb::Status detached = governor_->Detach(db_.get(), kNoWait);
  ASSERT_TRUE(OrdersLevel0ByEpoch() ? detached.ok() : detached.IsIncomplete()) << detached.ToString();
  governor_.reset();
  db_.reset();
  Open();
  ExpectValue("24", "ingested");
  ExpectValue("99", std::string(1000, 'v'));
}

}  // namespace
}  // namespace rocktune
