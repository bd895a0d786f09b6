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
  // With an interval after which the governor merges what there is in level 0.
  void OpenAndAttach() {
    GovernorOptions options = Options(GovernorMode::kProportional);
    options.device_bytes_per_s = 1'000'000'000;  // the clock stands still while tables are merged
    Create(options);
    Open();
    ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  }

  // Puts a table below level 0, without which merges within it would leave out all sequence numbers.
  void FillALevelBelow() {
    WriteAndFlush();
    ASSERT_TRUE(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
    ASSERT_EQ(Level0Tables(), 0);
  }

  // Writes keys that no other function here writes, until a memtable is full and waits for a second one.
  void FillOneMemtable() {
    uint64_t waiting = 0;
    for (int key = 0; waiting == 0; ++key) {
      ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), "z" + std::to_string(key), std::string(1000, 'v')).ok());
      ASSERT_TRUE(db_->GetIntProperty(rocksdb::DB::Properties::kNumImmutableMemTable, &waiting));
    }
  }

  // A file of this one key, which overlaps level 0 and no memtable.
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

TEST_F(Level0MergerTest, ManySmallTablesBecomeFewBeforeCompactionsGoOn) {
  OpenAndAttach();
  const HeldCompactions held;  // or they would keep up
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

TEST_F(Level0MergerTest, MergesThatFailDoNotKeepCompactionsOff) {
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

TEST_F(Level0MergerTest, CompactionsStayOffWhileAMergeWaitsForOneThatRuns) {
  OpenAndAttach();
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

TEST_F(Level0MergerTest, AMergeThatItSlowsEndsWhenItIsDetached) {
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
  // Whether it had begun is left open, and with it how many tables there are.
  const rocksdb::Status detached = governor_->Detach(db_.get(), kNoWait);
  EXPECT_TRUE(detached.ok() || detached.IsIncomplete()) << detached.ToString();
  EXPECT_FALSE(CompactionsOff());
  EXPECT_LE(governor_->Counters().level0_merges, 1);
}

TEST_F(Level0MergerTest, WhoWantsNoMergesGetsNone) {
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

// RocksDB refuses to open a database whose level 0 has a table with sequence numbers on both sides of
// another's. Ingested files have one that is newer than memtables which are still to be flushed.
TEST_F(Level0MergerTest, WhatIsNewerThanAMemtableIsNotMergedWithWhatIsOlder) {
  db_options_.min_write_buffer_number_to_merge = 2;
  db_options_.max_write_buffer_number = 6;
  db_options_.write_buffer_size = 256 << 10;
  OpenAndAttach();
  FillALevelBelow();
  const HeldCompactions held;
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

TEST_F(Level0MergerTest, IngestedFilesAreNotMergedWhileAnOlderMemtableWaits) {
  db_options_.min_write_buffer_number_to_merge = 2;
  db_options_.max_write_buffer_number = 6;
  db_options_.write_buffer_size = 256 << 10;
  OpenAndAttach();
  FillALevelBelow();
  const HeldCompactions held;
  FillOneMemtable();
  for (int file = 0; file < 25; ++file) {
    Ingest(std::to_string(file), "ingested");
  }
  PassInterval();
  for (int interval = 0; CompactionsOff() && interval < 1000; ++interval) {
    PassInterval();  // until nothing is merged
  }
  FillOneMemtable();  // its flush has sequence numbers on both sides of the ingested ones
  const rocksdb::Status flushed = db_->Flush(rocksdb::FlushOptions());
  ASSERT_TRUE(flushed.ok()) << flushed.ToString();
  // Where they may not be merged, only RocksDB makes them fewer.
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
