// Transactions on an FLSM store, by TransactionDB::WrapStackableDB, and opening one for reading.

#include <gtest/gtest.h>
#include <rocksdb/statistics.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/flsm/fake_flsm_store.h"

namespace rocktune {
namespace {

class FlsmTransactionsTest : public FlsmStoreTest {
 protected:
  ~FlsmTransactionsTest() override {
    transactions_.reset();
    std::filesystem::remove_all(copy_);
  }

  // Opens the store within a TransactionDB. store_ stays null; FlsmStore's calls go through flsm_.
  void OpenWithTransactions() {
    rocksdb::Options options = SmallOptions();
    std::vector<rocksdb::ColumnFamilyDescriptor> families = {{rocksdb::kDefaultColumnFamilyName, options}};
    std::vector<size_t> compacting;
    rocksdb::TransactionDB::PrepareWrap(&options, &families, &compacting);
    std::unique_ptr<FlsmStore> store;
    ASSERT_TRUE(
        FlsmStore::Open(rocksdb::Options(options, families.front().options), Layout({2}), directory_, &store)
            .ok());
    flsm_ = store.get();
    const std::vector<rocksdb::ColumnFamilyHandle*> handles = {store->DefaultColumnFamily()};
    rocksdb::TransactionDB* wrapped = nullptr;
    ASSERT_TRUE(rocksdb::TransactionDB::WrapStackableDB(store.release(), rocksdb::TransactionDBOptions(),
                                                        compacting, handles, &wrapped)
                    .ok());
    transactions_.reset(wrapped);
  }
  std::unique_ptr<rocksdb::Transaction> Begin() {
    return std::unique_ptr<rocksdb::Transaction>(transactions_->BeginTransaction(rocksdb::WriteOptions()));
  }

  const std::string copy_ = directory_ + "-copy";
  FlsmStore* flsm_ = nullptr;
  std::unique_ptr<rocksdb::TransactionDB> transactions_;
};

TEST_F(FlsmTransactionsTest, CommitsRollsBackAndFindsConflicts) {
  OpenWithTransactions();
  std::unique_ptr<rocksdb::Transaction> first = Begin();
  ASSERT_TRUE(first->Put("key", "first").ok());
  std::unique_ptr<rocksdb::Transaction> second = Begin();
  EXPECT_TRUE(second->Put("key", "second").IsTimedOut());
  ASSERT_TRUE(first->Commit().ok());
  ASSERT_TRUE(second->Put("other", "second").ok());
  ASSERT_TRUE(second->Rollback().ok());
  std::string value;
  ASSERT_TRUE(transactions_->Get(rocksdb::ReadOptions(), "key", &value).ok());
  EXPECT_EQ(value, "first");
  EXPECT_TRUE(transactions_->Get(rocksdb::ReadOptions(), "other", &value).IsNotFound());
}

TEST_F(FlsmTransactionsTest, TheStoreCompactsWhatTransactionsWrite) {
  OpenWithTransactions();
  for (int key = 0; key < 2000; ++key) {
    const std::unique_ptr<rocksdb::Transaction> transaction = Begin();
    ASSERT_TRUE(transaction->Put("key" + std::to_string(key), std::string(1000, 'v')).ok());
    ASSERT_TRUE(transaction->Commit().ok());
  }
  ASSERT_TRUE(transactions_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(flsm_->WaitUntilSettled().ok());
  EXPECT_GE(flsm_->Shape().LevelsInUse(), 2) << ToText(flsm_->Shape());
  EXPECT_EQ(flsm_->Statistics().entries_written, 2000u);
  ASSERT_TRUE(flsm_->SetPolicy(1, 4).ok());
  std::string value;
  for (int key = 0; key < 2000; key += 97) {
    ASSERT_TRUE(transactions_->Get(rocksdb::ReadOptions(), "key" + std::to_string(key), &value).ok()) << key;
  }
}

TEST_F(FlsmTransactionsTest, APreparedTransactionSurvivesReopening) {
  OpenWithTransactions();
  {
    const std::unique_ptr<rocksdb::Transaction> transaction = Begin();
    ASSERT_TRUE(transaction->SetName("prepared").ok());
    ASSERT_TRUE(transaction->Put("key", "value").ok());
    ASSERT_TRUE(transaction->Prepare().ok());
  }
  transactions_.reset();
  OpenWithTransactions();
  const std::unique_ptr<rocksdb::Transaction> again(transactions_->GetTransactionByName("prepared"));
  ASSERT_NE(again, nullptr);
  ASSERT_TRUE(again->Commit().ok());
  std::string value;
  EXPECT_TRUE(transactions_->Get(rocksdb::ReadOptions(), "key", &value).ok());
}

TEST_F(FlsmTransactionsTest, ACheckpointOfTheTransactionDbIsAStore) {
  OpenWithTransactions();
  ASSERT_TRUE(transactions_->Put(rocksdb::WriteOptions(), "key", "value").ok());
  rocksdb::Checkpoint* raw = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(transactions_.get(), &raw).ok());
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
  ASSERT_TRUE(checkpoint->CreateCheckpoint(copy_).ok());
  std::unique_ptr<FlsmStore> copy;
  ASSERT_TRUE(FlsmStore::Open(SmallOptions(), FlsmOptions(), copy_, &copy).ok());
  EXPECT_EQ(copy->Shape().size_ratio, 4);
}

TEST_F(FlsmTransactionsTest, OpensForReadingBesideAWriter) {
  FillAndSettle(2000);
  rocksdb::Options options = SmallOptions();
  options.statistics = rocksdb::CreateDBStatistics();
  std::unique_ptr<rocksdb::DB> reader;
  const rocksdb::Status status = FlsmStore::OpenForReadOnly(options, directory_, &reader);
  ASSERT_TRUE(status.ok()) << status.ToString();
  std::string value;
  EXPECT_TRUE(reader->Get(rocksdb::ReadOptions(), "key7", &value).ok());
  for (int key = 0; key < 100; ++key) {
    EXPECT_TRUE(reader->Get(rocksdb::ReadOptions(), "key7x" + std::to_string(key), &value).IsNotFound());
  }
  EXPECT_GT(options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL), 0u) << "filters are used";
  EXPECT_FALSE(reader->Put(rocksdb::WriteOptions(), "key", "value").ok());
  Put(0, 100, "written beside the reader");
}

TEST_F(FlsmTransactionsTest, OpensForReadingOnlyWhatIsAStore) {
  std::unique_ptr<rocksdb::DB> reader;
  EXPECT_TRUE(FlsmStore::OpenForReadOnly(SmallOptions(), directory_, &reader).IsNotFound());
  EXPECT_EQ(reader, nullptr);
}

}  // namespace
}  // namespace rocktune
