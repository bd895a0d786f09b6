// An FLSM store ingests tables, and its shape has them when the call returns.

#include <gtest/gtest.h>
#include <rocksdb/sst_file_writer.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/flsm/fake_flsm_store.h"

namespace rocktune {
namespace {

class FlsmIngestionTest : public FlsmStoreTest {
 protected:
  ~FlsmIngestionTest() override { std::filesystem::remove_all(table_); }

  // Ingests one table with `keys`, which must be in order.
  rocksdb::Status Ingest(const std::vector<std::string>& keys, const std::string& value) {
    rocksdb::SstFileWriter writer((rocksdb::EnvOptions()), SmallOptions());
    rocksdb::Status status = writer.Open(table_);
    for (const std::string& key : keys) {
      status = status.ok() ? writer.Put(key, value) : status;
    }
    status = status.ok() ? writer.Finish() : status;
    rocksdb::IngestExternalFileOptions how;
    how.move_files = true;
    return status.ok() ? store_->IngestExternalFile({table_}, how) : status;
  }
  void ExpectValue(const std::string& key, const std::string& expected) {
    std::string value;
    ASSERT_TRUE(store_->Get(rocksdb::ReadOptions(), key, &value).ok()) << key;
    EXPECT_EQ(value.substr(0, 1), expected) << key;
  }

  const std::string table_ = directory_ + "-more.sst";
};

TEST_F(FlsmIngestionTest, ATableThatOverlapsNothingIsARunAtOnce) {
  FillAndSettle(500);
  const uint64_t before = BytesInRuns();
  ASSERT_TRUE(Ingest({"more"}, "i").ok());
  EXPECT_GT(BytesInRuns(), before);
  ExpectShapeMatchesRocksDb();
  ExpectValue("more", "i");
}

TEST_F(FlsmIngestionTest, ATableReplacesOlderEntriesAndIsReplacedByNewerOnes) {
  FillAndSettle(2000);
  ASSERT_TRUE(Ingest({"key1", "key1000", "key1999"}, "i").ok());
  // The table can make a merge of level 0 due, during which RocksDB still has its tables there.
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  ExpectShapeMatchesRocksDb();
  Put(1000, 1, "n");
  ExpectValue("key1", "i");
  ExpectValue("key1000", "n");
  Put(3000, 2000, std::string(1000, 'v'));
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  ExpectShapeMatchesRocksDb();
  ExpectValue("key1", "i");
  ExpectValue("key1000", "n");
  Reopen();
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  ExpectShapeMatchesRocksDb();
  ExpectValue("key1999", "i");
}

TEST_F(FlsmIngestionTest, TheCallersStatusIsRocksDbs) {
  FillAndSettle(100);
  EXPECT_FALSE(store_->IngestExternalFile({directory_ + "/missing.sst"}, {}).ok());
  ExpectShapeMatchesRocksDb();
}

TEST_F(FlsmIngestionTest, AFewTablesInADeepLevelDoNotCountForFilters) {
  FillAndSettle(500);
  const int before = LevelsToFilter(store_->Shape());
  ASSERT_TRUE(Ingest({"more"}, "i").ok());
  EXPECT_EQ(store_->Shape().LevelsInUse(), store_->Shape().deepest());
  EXPECT_EQ(LevelsToFilter(store_->Shape()), before);
}

TEST_F(FlsmIngestionTest, IngestsWhileCompactionsRun) {
  ASSERT_TRUE(Open(Layout({2})).ok());
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    for (int key = 0; !ends; ++key) {
      EXPECT_TRUE(
          store_->Put(rocksdb::WriteOptions(), "key" + std::to_string(key * 7 % 5000), std::string(900, 'w'))
              .ok());
    }
  });
  for (int number = 100; number < 130; ++number) {
    const std::string text = std::to_string(number);
    ASSERT_TRUE(Ingest({"a" + text, "key" + text, "z" + text}, "i").ok());
  }
  ends = true;
  writer.join();
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
  ExpectShapeMatchesRocksDb();
  for (int number = 100; number < 130; ++number) {
    ExpectValue("a" + std::to_string(number), "i");
    ExpectValue("z" + std::to_string(number), "i");
  }
}

}  // namespace
}  // namespace rocktune
