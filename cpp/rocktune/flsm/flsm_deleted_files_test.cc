// An FLSM store notices files that the application deletes.

#include <gtest/gtest.h>
#include <rocksdb/convenience.h>

#include <string>

#include "rocktune/flsm/fake_flsm_store.h"

namespace rocktune {
namespace {

TEST_F(FlsmStoreTest, NoticesFilesDeletedInARange) {
  FillAndSettle(3000);
  const uint64_t before = BytesInRuns();
  const rocksdb::Slice begin("key1");
  const rocksdb::Slice end("key7");
  ASSERT_TRUE(
      rocksdb::DeleteFilesInRange(store_.get(), store_->DefaultColumnFamily(), &begin, &end, false).ok());
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  ExpectShapeMatchesRocksDb();
  EXPECT_LT(BytesInRuns(), before);
  ASSERT_TRUE(
      rocksdb::DeleteFilesInRange(store_.get(), store_->DefaultColumnFamily(), nullptr, nullptr).ok());
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  ExpectShapeMatchesRocksDb();
  EXPECT_EQ(BytesInRuns(), 0u);
  Put(0, 3000, std::string(1000, 'w'));
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  EXPECT_TRUE(store_->WaitUntilSettled().ok());
  ExpectShapeMatchesRocksDb();
}

// Returns the name of the oldest file in level 0.
std::string OldestOfLevel0(rocksdb::DB* db) {
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(db->DefaultColumnFamily(), &metadata);
  return metadata.levels.front().files.back().name;
}

template <typename Database>
void DeleteFileOrSkip(Database* db, const std::string& name) {
  if constexpr (requires { db->DeleteFile(name); }) {
    ASSERT_TRUE(db->DeleteFile(name).ok());
  } else {
    GTEST_SKIP() << "this RocksDB has no DeleteFile";
  }
}

TEST_F(FlsmStoreTest, NoticesADeletedFileOfLevel0) {
  ASSERT_TRUE(Open(Layout({4})).ok());
  for (int flush = 0; flush < 3; ++flush) {
    Put(flush, 1, "value");
    ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  }
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  ASSERT_EQ(store_->Shape().level0_files, 3u);
  DeleteFileOrSkip(store_.get(), OldestOfLevel0(store_.get()));
  if (IsSkipped()) {
    return;
  }
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  EXPECT_EQ(store_->Shape().level0_files, 2u);
}

}  // namespace
}  // namespace rocktune
