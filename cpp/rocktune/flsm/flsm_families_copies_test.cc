// Checkpoints, backups, read-only databases and transactions of an FLSM store with column families.

#include <gtest/gtest.h>
#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/options_util.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>

#include <memory>
#include <string>
#include <vector>

#include "rocktune/flsm/fake_flsm_families.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// Not a copy of kDefaultColumnFamilyName, which a RocksDB that is linked statically may initialise later.
constexpr const char* kDefault = "default";

TEST_F(FlsmFamiliesTest, ACheckpointAndABackupHaveAllFamilies) {
  MakeStore(1500);
  rocksdb::Checkpoint* raw = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(store_.get(), &raw).ok());
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
  ASSERT_TRUE(checkpoint->CreateCheckpoint(directory_ + "-copy").ok());
  rocksdb::BackupEngine* opened = nullptr;
  const rocksdb::BackupEngineOptions where(directory_ + "-backups");
  ASSERT_TRUE(rocksdb::BackupEngine::Open(rocksdb::Env::Default(), where, &opened).ok());
  const std::unique_ptr<rocksdb::BackupEngine> backups(opened);
  ASSERT_TRUE(backups->CreateNewBackup(store_.get(), true).ok());
  store_.reset();
  ASSERT_TRUE(OpenFamilies(AsTheyAre(), directory_ + "-copy").ok());
  ExpectFilled(1500);
  ExpectPolicies();
  store_.reset();
  ASSERT_TRUE(backups->RestoreDBFromLatestBackup(directory_, directory_).ok());
  ASSERT_TRUE(OpenFamilies(AsTheyAre(), directory_).ok());
  ExpectFilled(1500);
  ExpectPolicies();
}

TEST_F(FlsmFamiliesTest, OpensForReadingAndByItsOptionsFile) {
  MakeStore(500);
  store_.reset();
  std::unique_ptr<rocksdb::DB> reader;
  const std::vector<rocksdb::ColumnFamilyDescriptor> two = {{kDefault, SmallOptions()},
                                                            {"users", SmallOptions()}};
  ASSERT_TRUE(FlsmStore::OpenForReadOnly(SmallOptions(), directory_, two, &handles_, &reader).ok());
  std::string value;
  ASSERT_TRUE(reader->Get(rocksdb::ReadOptions(), handles_[1], "key3", &value).ok());
  EXPECT_EQ(value, Value(2));
  const auto destroy = [this, &reader] {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      ASSERT_TRUE(reader->DestroyColumnFamilyHandle(handle).ok());
    }
    reader.reset();
  };
  destroy();
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  ASSERT_TRUE(rocksdb::LoadLatestOptions(rocksdb::ConfigOptions(), directory_, &options, &families).ok());
  ASSERT_TRUE(OpenColumnFamilies(options, directory_, families, &handles_, &reader).ok());
  ASSERT_TRUE(reader->Put(rocksdb::WriteOptions(), handles_[1], "key3", Value(1)).ok());
  destroy();
  ASSERT_TRUE(LoadStockOptions(directory_, &options, &families).ok());
  ASSERT_EQ(families.size(), 3u);
  EXPECT_EQ(families[2].options.compaction_style, rocksdb::kCompactionStyleLevel);
  std::vector<FlsmFamily> again;
  for (const rocksdb::ColumnFamilyDescriptor& family : families) {
    again.push_back({family.name, family.options, {}});
  }
  ASSERT_TRUE(FlsmStore::Open(options, directory_, again, &handles_, &store_).ok());
  ExpectFilled(500);
  ExpectPolicies();
}

TEST_F(FlsmFamiliesTest, TransactionsSpanFamiliesAndMakeThem) {
  rocksdb::Options options = SmallOptions();
  options.create_missing_column_families = true;
  std::vector<FlsmFamily> families = Three();
  std::vector<rocksdb::ColumnFamilyDescriptor> prepared;
  for (const FlsmFamily& family : families) {
    prepared.emplace_back(family.name, family.options);
  }
  std::vector<size_t> compacting;
  rocksdb::TransactionDB::PrepareWrap(&options, &prepared, &compacting);
  for (std::size_t family = 0; family < families.size(); ++family) {
    families[family].options = prepared[family].options;
  }
  ASSERT_TRUE(FlsmStore::Open(options, directory_, families, &handles_, &store_).ok());
  rocksdb::TransactionDB* wrapped = nullptr;
  ASSERT_TRUE(rocksdb::TransactionDB::WrapStackableDB(store_.release(), rocksdb::TransactionDBOptions(),
                                                      compacting, handles_, &wrapped)
                  .ok());
  const std::unique_ptr<rocksdb::TransactionDB> transactions(wrapped);
  rocksdb::ColumnFamilyHandle* made = nullptr;
  ASSERT_TRUE(transactions->CreateColumnFamily(SmallOptions(), "made", &made).ok());
  const std::unique_ptr<rocksdb::Transaction> transaction(
      transactions->BeginTransaction(rocksdb::WriteOptions()));
  ASSERT_TRUE(transaction->Put(handles_[1], "key", "value").ok());
  ASSERT_TRUE(transaction->Put(made, "key", "value").ok());
  ASSERT_TRUE(transaction->Commit().ok());
  std::string value;
  EXPECT_TRUE(transactions->Get(rocksdb::ReadOptions(), made, "key", &value).ok());
  ASSERT_TRUE(transactions->DropColumnFamily(made).ok());
  ASSERT_TRUE(transactions->DestroyColumnFamilyHandle(made).ok());
  EXPECT_TRUE(transactions->Get(rocksdb::ReadOptions(), handles_[1], "key", &value).ok());
}

}  // namespace
}  // namespace rocktune
