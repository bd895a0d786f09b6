#include "rocktune/flsm_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "rocktune/flsm/fake_flsm_store.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

TEST_F(FlsmStoreTest, KeepsEntriesInRunsOfItsPolicies) {
  ASSERT_TRUE(Open(Layout({4, 2, 1})).ok());
  std::mt19937 random(1);
  for (int key = 0; key < 4000; ++key) {
    Put(static_cast<int>(random() % 100'000), 1, std::string(1000, 'v'));
  }
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  store_->WaitUntilSettled();
  EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
  const FlsmShape shape = store_->Shape();
  EXPECT_EQ(Violation(shape), "");
  EXPECT_LE(shape.level(1).runs.size(), 5) << ToText(shape);
  uint64_t bytes = 0;
  for (const FlsmLevel& level : shape.levels) {
    bytes += level.bytes();
  }
  EXPECT_GT(bytes, 3'500'000) << ToText(shape);
}

TEST_F(FlsmStoreTest, WithFilesLevelsStayFull) {
  FlsmOptions layout = Layout({2});
  layout.granularity = FlsmGranularity::kFiles;
  ASSERT_TRUE(Open(layout).ok());
  std::mt19937 random(1);
  for (int key = 0; key < 12'000; ++key) {
    Put(static_cast<int>(random() % 100'000), 1, std::string(1000, 'v'));
  }
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  store_->WaitUntilSettled();
  EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
  const FlsmShape shape = store_->Shape();
  EXPECT_EQ(Violation(shape), "");
  ASSERT_GE(shape.LevelsInUse(), 3) << ToText(shape);
  EXPECT_GT(shape.level(2).bytes(), shape.Capacity(2) / 2) << "levels stay full: " << ToText(shape);
  for (int number = 1; number < shape.LevelsInUse(); ++number) {
    EXPECT_LE(shape.level(number).bytes(), shape.Capacity(number)) << ToText(shape);
    // Level 1 opens a new run whenever its runs are being pushed, whatever its policy.
    EXPECT_TRUE(number == 1 || shape.level(number).runs.size() <= 2) << ToText(shape);
  }
  EXPECT_TRUE(store_->SetPolicy(2, 1, FlsmTransition::kLazy).IsInvalidArgument());
}

TEST_F(FlsmStoreTest, KeepsShapeAndPoliciesWhenReopened) {
  ASSERT_TRUE(Open(Layout({4, 2})).ok());
  Put(0, 1000, std::string(1000, 'v'));
  ASSERT_TRUE(store_->SetPolicy(3, 4, FlsmTransition::kFlexible).ok());
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  store_->WaitUntilSettled();
  const FlsmShape before = store_->Shape();
  Reopen();
  store_->WaitUntilSettled();
  const FlsmShape after = store_->Shape();
  EXPECT_EQ(ToText(after), ToText(before));
  EXPECT_EQ(after.level(3).policy, 4);
  EXPECT_EQ(after.size_ratio, 4) << "the store's own, not the default";
  FlsmShape read;
  ASSERT_TRUE(ReadShape(directory_, &read).ok());
  EXPECT_EQ(ToText(read), ToText(after)) << "while the store is open";
}

TEST_F(FlsmStoreTest, OpenRefusesOtherDatabasesAndLayoutsOutOfRange) {
  EXPECT_TRUE(Open(Layout({})).IsInvalidArgument());
  EXPECT_TRUE(Open(Layout({5})).IsInvalidArgument());
  std::unique_ptr<rocksdb::DB> foreign;
  ASSERT_TRUE(OpenDatabase(SmallOptions(), directory_, &foreign).ok());
  foreign.reset();
  const rocksdb::Status status = Open(Layout({1}));
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("no FLSM store"), std::string::npos) << status.ToString();
}

TEST_F(FlsmStoreTest, OpenReturnsCorruptionForAnUnparsableShape) {
  ASSERT_TRUE(Open(Layout({1})).ok());
  store_.reset();
  for (const char* text : {"", "{", "[]", "{\"format\":2}", "{\"format\":1}",
                           "{\"format\":1,\"size_ratio\":1,\"level1_bytes\":1,\"slots\":9,\"levels\":[]}"}) {
    std::ofstream(directory_ + "/FLSM") << text;
    EXPECT_TRUE(Open(Layout({1})).IsCorruption()) << text;
  }
}

TEST_F(FlsmStoreTest, AnswersPropertiesOfSettledCompactions) {
  ASSERT_TRUE(Open(Layout({4, 2, 1})).ok());
  Put(0, 3000, std::string(1000, 'v'));
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  store_->WaitUntilSettled();
  for (const std::string& property :
       {rocksdb::DB::Properties::kCompactionPending, rocksdb::DB::Properties::kNumRunningCompactions,
        rocksdb::DB::Properties::kEstimatePendingCompactionBytes}) {
    uint64_t value = 1;
    EXPECT_TRUE(store_->GetIntProperty(property, &value));
    EXPECT_EQ(value, 0) << property;
  }
  ASSERT_TRUE(store_->SetPolicy(1, 1, FlsmTransition::kGreedy).ok());
  ASSERT_TRUE(store_->SetPolicy(2, 1, FlsmTransition::kGreedy).ok());
  uint64_t due = 1;
  store_->WaitUntilSettled();
  ASSERT_TRUE(store_->GetIntProperty(rocksdb::DB::Properties::kCompactionPending, &due));
  EXPECT_EQ(due, 0);
  EXPECT_EQ(Violation(store_->Shape()), "");
}

TEST_F(FlsmStoreTest, ReshapesItselfWithoutWrites) {
  for (const FlsmGranularity granularity : {FlsmGranularity::kLevels, FlsmGranularity::kFiles}) {
    store_.reset();
    std::filesystem::remove_all(directory_);
    FlsmOptions layout = Layout({4});
    layout.granularity = granularity;
    layout.reshape_bytes_per_s = 1 << 30;
    ASSERT_TRUE(Open(layout).ok());
    std::map<std::string, std::string> model;
    std::mt19937 random(1);
    for (int step = 0; step < 6000; ++step) {
      const std::string key = "key" + std::to_string(random() % 2000);
      model[key] = std::string(500, static_cast<char>('a' + random() % 26));
      ASSERT_TRUE(store_->Put(rocksdb::WriteOptions(), key, model[key]).ok());
    }
    ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
    store_->WaitUntilSettled();
    for (int level = 1; level <= 6; ++level) {
      ASSERT_TRUE(store_->SetPolicy(level, 1).ok());
    }
    const auto runs = [this] {
      std::size_t max_runs = 0;
      for (const FlsmLevel& level : store_->Shape().levels) {
        max_runs = std::max(max_runs, level.runs.size());
      }
      return max_runs;
    };
    while (runs() > 1) {  // without any write; if it never ends, CTest ends the test
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(Violation(store_->Shape()), "");
    std::size_t found = 0;
    const std::unique_ptr<rocksdb::Iterator> iterator(store_->NewIterator(rocksdb::ReadOptions()));
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++found) {
      ASSERT_EQ(iterator->value().ToString(), model.at(iterator->key().ToString()));
    }
    EXPECT_EQ(found, model.size());
    for (const auto& [key, expected] : model) {
      std::string value;
      ASSERT_TRUE(store_->Get(rocksdb::ReadOptions(), key, &value).ok());
      ASSERT_EQ(value, expected) << key;
    }
  }
}

TEST_F(FlsmStoreTest, RefusesLevelsAndPoliciesOutOfRange) {
  ASSERT_TRUE(Open(Layout({1})).ok());
  EXPECT_TRUE(store_->SetPolicy(0, 1).IsInvalidArgument());
  EXPECT_TRUE(store_->SetPolicy(7, 1).IsInvalidArgument());
  EXPECT_TRUE(store_->SetPolicy(1, 0).IsInvalidArgument());
  EXPECT_TRUE(store_->SetPolicy(1, 5).IsInvalidArgument());
  EXPECT_TRUE(store_->SetPolicy(6, 4).ok());
}

}  // namespace
}  // namespace rocktune
