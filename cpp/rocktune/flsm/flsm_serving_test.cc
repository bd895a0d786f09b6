// Calls of an FLSM store about column families, tables, compactions and options.

#include <gtest/gtest.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rocktune/flsm/fake_flsm_store.h"

namespace rocktune {
namespace {

class FlsmServingTest : public FlsmStoreTest {
 protected:
  std::set<std::string> Files() const {
    std::set<std::string> files;
    if (std::filesystem::exists(directory_)) {
      for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
        files.insert(entry.path().filename());
      }
    }
    return files;
  }
  uint64_t Property(const std::string& name) {
    uint64_t value = 0;
    EXPECT_TRUE(store_->GetIntProperty(name, &value)) << name;
    return value;
  }
};

TEST_F(FlsmServingTest, RefusesToImportAColumnFamily) {
  ASSERT_TRUE(Open(Layout({1})).ok());
  rocksdb::ColumnFamilyHandle* made = nullptr;
  const rocksdb::ExportImportFilesMetaData tables;
  EXPECT_TRUE(store_
                  ->CreateColumnFamilyWithImport(rocksdb::ColumnFamilyOptions(), "more",
                                                 rocksdb::ImportColumnFamilyOptions(), tables, &made)
                  .IsNotSupported());
  EXPECT_EQ(made, nullptr);
}

TEST_F(FlsmServingTest, OpenRefusesFamiliesThatOthersMade) {
  ASSERT_TRUE(Open(Layout({1})).ok());
  rocksdb::ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(store_->GetBaseDB()->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), "other", &other).ok());
  EXPECT_EQ(store_->Shape(other).levels.size(), 0u) << "it has no shape";
  ASSERT_TRUE(store_->DestroyColumnFamilyHandle(other).ok());
  store_.reset();
  const std::set<std::string> files = Files();
  rocksdb::Status status = Open(Layout({1}));
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const std::vector<FlsmFamily> both = {{rocksdb::kDefaultColumnFamilyName, SmallOptions(), {}},
                                        {"other", SmallOptions(), {}}};
  status = FlsmStore::Open(SmallOptions(), directory_, both, &handles, &store_);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_EQ(Files(), files) << "nothing was written";
}

TEST_F(FlsmServingTest, IgnoresFlushesOfOtherColumnFamilies) {
  ASSERT_TRUE(Open(Layout({4})).ok());
  Put(0, 1, "value");
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  rocksdb::DB* base = store_->GetBaseDB();
  rocksdb::ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(base->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), "other", &other).ok());
  ASSERT_TRUE(base->Put(rocksdb::WriteOptions(), other, "key", "value").ok());
  ASSERT_TRUE(base->Flush(rocksdb::FlushOptions(), other).ok());
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  EXPECT_EQ(store_->Shape().level0_files, 1u);
  ExpectShapeMatchesRocksDb();
  ASSERT_TRUE(base->DestroyColumnFamilyHandle(other).ok());
}

TEST_F(FlsmServingTest, OpenRefusesOptionsUnderWhichCompactionsFail) {
  std::filesystem::remove_all(directory_);
  rocksdb::Options options = SmallOptions();
  options.db_paths = {{directory_, 1 << 20}, {directory_ + "-2", 1 << 30}};
  EXPECT_TRUE(FlsmStore::Open(options, Layout({1}), directory_, &store_).IsNotSupported());
  options = SmallOptions();
  options.cf_paths = {{directory_, 1 << 20}, {directory_ + "-2", 1 << 30}};
  EXPECT_TRUE(FlsmStore::Open(options, Layout({1}), directory_, &store_).IsNotSupported());
  options = SmallOptions();
  options.allow_ingest_behind = true;
  EXPECT_TRUE(FlsmStore::Open(options, Layout({1}), directory_, &store_).IsNotSupported());
  EXPECT_FALSE(std::filesystem::exists(directory_));
}

TEST_F(FlsmServingTest, ServesAfterACloseThatASnapshotPrevented) {
  ASSERT_TRUE(Open(Layout({1})).ok());
  Put(0, 500, std::string(1000, 'v'));
  const rocksdb::Snapshot* snapshot = store_->GetSnapshot();
  EXPECT_TRUE(store_->Close().IsAborted());
  EXPECT_TRUE(store_->Close().IsAborted());
  store_->ReleaseSnapshot(snapshot);
  // So many flushes that writes would stop, unless level 0 is compacted.
  const int flushes = SmallOptions().level0_stop_writes_trigger + 4;
  for (int flush = 0; flush < flushes; ++flush) {
    ASSERT_TRUE(store_->Put(rocksdb::WriteOptions(), "key" + std::to_string(flush), "new").ok());
    rocksdb::FlushOptions at_once;
    at_once.allow_write_stall = true;
    ASSERT_TRUE(store_->Flush(at_once).ok());
    ASSERT_TRUE(store_->WaitUntilSettled().ok());
    ASSERT_LE(store_->Shape().level0_files, 10u) << "level 0 is not compacted";
  }
  ExpectShapeMatchesRocksDb();
  EXPECT_TRUE(store_->Close().ok());
  EXPECT_TRUE(store_->WaitUntilSettled().IsShutdownInProgress());
  Reopen();
  std::string value;
  ASSERT_TRUE(store_->Get(rocksdb::ReadOptions(), "key1", &value).ok());
  EXPECT_EQ(value, "new");
}

TEST_F(FlsmServingTest, RefusesCompactionsByTheApplication) {
  FillAndSettle(500);
  const FlsmShape before = store_->Shape();
  EXPECT_TRUE(store_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).IsNotSupported());
  rocksdb::ColumnFamilyMetaData metadata;
  store_->GetColumnFamilyMetaData(store_->DefaultColumnFamily(), &metadata);
  std::vector<std::string> names;
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      names.push_back(file.name);
    }
  }
  ASSERT_FALSE(names.empty());
  EXPECT_TRUE(store_->CompactFiles(rocksdb::CompactionOptions(), names, 1).IsNotSupported());
  rocksdb::ColumnFamilyHandle* family = store_->DefaultColumnFamily();
  EXPECT_TRUE(store_->SuggestCompactRange(family, nullptr, nullptr).IsNotSupported());
  EXPECT_TRUE(store_->PromoteL0(family, 1).IsNotSupported());
  EXPECT_TRUE(store_->EnableAutoCompaction({family}).ok()) << "they are always enabled";
  EXPECT_EQ(ToText(store_->Shape()), ToText(before));
  ExpectShapeMatchesRocksDb();
}

TEST_F(FlsmServingTest, CompactsWhileManualCompactionsAreDisabled) {
  FillAndSettle(1000);
  store_->DisableManualCompaction();
  MakeCompactionsDue();
  EXPECT_TRUE(store_->WaitUntilSettled().ok());
  store_->EnableManualCompaction();
}

TEST_F(FlsmServingTest, RefusesOptionsThatItsCompactionsCannotHave) {
  FlsmOptions layout = Layout({4});
  layout.filters.bits_per_key = 8;
  ASSERT_TRUE(Open(layout).ok());
  EXPECT_TRUE(store_->SetOptions({{"disable_auto_compactions", "true"}}).IsNotSupported());
  EXPECT_TRUE(store_->SetOptions({{"disable_auto_compactions", "false"}}).ok());
  EXPECT_TRUE(
      store_->SetOptions({{"compression_per_level", "kNoCompression:kNoCompression"}}).IsNotSupported());
  EXPECT_TRUE(store_->SetOptions({{"block_based_table_factory", "{filter_policy=bloomfilter:4:false;}"}})
                  .IsNotSupported());
  EXPECT_TRUE(store_->SetOptions({{"level0_slowdown_writes_trigger", "2"}}).IsInvalidArgument())
      << "below the compaction trigger, which RocksDB asserts not to happen";
  EXPECT_TRUE(store_->SetOptions({{"level0_stop_writes_trigger", "5"}}).IsInvalidArgument());
  EXPECT_TRUE(store_->SetOptions({{"no_such_option", "5"}}).IsInvalidArgument());
  const rocksdb::Options options = store_->GetOptions();
  EXPECT_FALSE(options.disable_auto_compactions);
  EXPECT_EQ(options.level0_slowdown_writes_trigger, SmallOptions().level0_slowdown_writes_trigger);
}

TEST_F(FlsmServingTest, NewOptionsLimitTheFilesInLevel0) {
  ASSERT_TRUE(Open(Layout({4})).ok());
  EXPECT_EQ(store_->Shape().max_level0_files, 10u);
  for (const auto& [slowdown, max_files] : {std::pair{2, 0u}, {3, 1u}, {5, 2u}}) {
    ASSERT_TRUE(store_
                    ->SetOptions({{"level0_file_num_compaction_trigger", "1"},
                                  {"level0_slowdown_writes_trigger", std::to_string(slowdown)},
                                  {"level0_stop_writes_trigger", std::to_string(slowdown + 1)},
                                  {"target_file_size_base", std::to_string(100'000 + slowdown)}})
                    .ok());
    EXPECT_EQ(store_->Shape().max_level0_files, max_files);
    EXPECT_EQ(store_->Shape().file_bytes, 100'000u + static_cast<unsigned>(slowdown));
    for (int flush = 0; flush < 8; ++flush) {
      Put(flush, 1, "value");
      ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
    }
    EXPECT_TRUE(store_->WaitUntilSettled().ok());
    EXPECT_LE(store_->Shape().level0_files, max_files);
  }
}

TEST_F(FlsmServingTest, FlushesContinueWithALowSlowdownTrigger) {
  rocksdb::Options options = SmallOptions();
  options.level0_file_num_compaction_trigger = 1;
  options.level0_slowdown_writes_trigger = 2;
  ASSERT_TRUE(FlsmStore::Open(options, Layout({4}), directory_, &store_).ok());
  for (int flush = 0; flush < 8; ++flush) {
    Put(flush, 1, "value");
    ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  }
}

TEST_F(FlsmServingTest, DoesNotCompactWhileBackgroundWorkIsPaused) {
  FillAndSettle(2000);
  ASSERT_TRUE(store_->PauseBackgroundWork().ok());
  MakeCompactionsDue();
  for (int check = 0; check < 20; ++check) {
    EXPECT_EQ(Property(rocksdb::DB::Properties::kCompactionPending), 1u);
    EXPECT_EQ(Property(rocksdb::DB::Properties::kNumRunningCompactions), 0u);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_TRUE(store_->ContinueBackgroundWork().ok());
  EXPECT_FALSE(store_->ContinueBackgroundWork().ok()) << "it is not paused";
  EXPECT_TRUE(store_->WaitUntilSettled().ok());
  EXPECT_EQ(Property(rocksdb::DB::Properties::kCompactionPending), 0u);
}

TEST_F(FlsmServingTest, AnswersPropertiesOfCompactions) {
  FillAndSettle(2000);
  ASSERT_TRUE(store_->PauseBackgroundWork().ok());
  MakeCompactionsDue();
  uint64_t value = 0;
  EXPECT_TRUE(store_->GetAggregatedIntProperty(rocksdb::DB::Properties::kCompactionPending, &value));
  EXPECT_EQ(value, 1u);
  std::string text;
  EXPECT_TRUE(store_->GetProperty(rocksdb::DB::Properties::kEstimatePendingCompactionBytes, &text));
  EXPECT_EQ(text, std::to_string(Property(rocksdb::DB::Properties::kEstimatePendingCompactionBytes)));
  EXPECT_NE(text, "0");
  ASSERT_TRUE(store_->ContinueBackgroundWork().ok());
}

TEST_F(FlsmServingTest, ListsTheMetadataOfTheDefaultFamily) {
  ASSERT_TRUE(Open(Layout({4})).ok());
  std::vector<rocksdb::ColumnFamilyMetaData> families;
  store_->GetAllColumnFamilyMetaData(&families);
  ASSERT_EQ(families.size(), 1u);
  EXPECT_EQ(families.front().name, rocksdb::kDefaultColumnFamilyName);
}

#if ROCKSDB_MAJOR >= 11
TEST_F(FlsmServingTest, RefusesCallsOfRocksDb11) {
  ASSERT_TRUE(Open(Layout({4})).ok());
  rocksdb::ColumnFamilyHandle* family = store_->DefaultColumnFamily();
  const rocksdb::Slice key("key");
  EXPECT_TRUE(store_->ClipColumnFamily(family, key, key).IsNotSupported());
  rocksdb::ColumnFamilyHandle* made = nullptr;
  const std::vector<const rocksdb::ExportImportFilesMetaData*> tables;
  EXPECT_TRUE(store_
                  ->CreateColumnFamilyWithImport(rocksdb::ColumnFamilyOptions(), "more",
                                                 rocksdb::ImportColumnFamilyOptions(), tables, &made)
                  .IsNotSupported());
  const std::vector<rocksdb::ColumnFamilyHandle*> families = {family};
  EXPECT_TRUE(store_->SetOptions(families, {{"disable_auto_compactions", "true"}}).IsNotSupported());
}

TEST_F(FlsmServingTest, WaitForCompactWaitsForTheStoresCompactions) {
  FillAndSettle(2000);
  store_->AbortAllCompactions();
  MakeCompactionsDue();
  EXPECT_TRUE(store_->WaitUntilSettled().IsIncomplete());
  rocksdb::WaitForCompactOptions how;
  how.timeout = std::chrono::milliseconds(1);
  const rocksdb::Status status = store_->WaitForCompact(how);
  EXPECT_TRUE(status.IsTimedOut() || status.IsIncomplete()) << status.ToString();
  store_->ResumeAllCompactions();
  how.timeout = {};
  while (store_->WaitForCompact(how).IsIncomplete()) {  // an aborted compaction may be counted only now
  }
  EXPECT_TRUE(store_->LastFailure().ok());
  EXPECT_EQ(Property(rocksdb::DB::Properties::kCompactionPending), 0u);
  how.close_db = true;
  EXPECT_TRUE(store_->WaitForCompact(how).ok());
  EXPECT_TRUE(store_->WaitUntilSettled().IsShutdownInProgress()) << "the store is closed";
}
#endif

}  // namespace
}  // namespace rocktune
