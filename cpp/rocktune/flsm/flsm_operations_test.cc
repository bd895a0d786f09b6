// An FLSM store counts and times every kind of operation.

#include <gtest/gtest.h>
#include <rocksdb/wide_columns.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/flsm/fake_flsm_store.h"

namespace rocktune {
namespace {

constexpr int kKeys = 3;   // keys of one MultiGet
constexpr int kFound = 2;  // those of them that exist

class FlsmOperationsTest : public FlsmStoreTest {
 protected:
  void OpenSampled(uint64_t sample_every) {
    FlsmOptions layout = Layout({4});
    layout.sample_every = sample_every;
    ASSERT_TRUE(Open(layout).ok());
  }
  static uint64_t Timed(const FlsmStatistics& statistics) {
    return statistics.quiet.operations + statistics.merging.operations;
  }
  void ExpectLookups(const char* name, uint64_t keys, uint64_t found, const std::function<void()>& look_up) {
    const FlsmStatistics before = store_->Statistics();
    look_up();
    const FlsmStatistics after = store_->Statistics();
    EXPECT_EQ(after.lookups - before.lookups, keys) << name;
    EXPECT_EQ(after.found - before.found, found) << name;
    EXPECT_EQ(Timed(after) - Timed(before), keys) << name;
    EXPECT_GT(after.busy_ns, before.busy_ns) << name;
    EXPECT_EQ(after.entries_written, before.entries_written) << name;
  }
  void ExpectWrite(const char* name, const std::function<rocksdb::Status()>& write) {
    const FlsmStatistics before = store_->Statistics();
    const rocksdb::Status status = write();
    EXPECT_TRUE(status.ok()) << name << ": " << status.ToString();
    const FlsmStatistics after = store_->Statistics();
    EXPECT_EQ(after.entries_written - before.entries_written, 1u) << name;
    EXPECT_EQ(Timed(after) - Timed(before), 1u) << name;
    EXPECT_GT(after.busy_ns, before.busy_ns) << name;
    EXPECT_EQ(after.lookups, before.lookups) << name;
  }

  const rocksdb::ReadOptions read_;
  const rocksdb::WriteOptions write_;
};

TEST_F(FlsmOperationsTest, CountsAndTimesEveryMultiGet) {
  OpenSampled(1);
  Put(0, 2, "value");
  rocksdb::ColumnFamilyHandle* family = store_->DefaultColumnFamily();
  const std::vector<rocksdb::Slice> keys = {"key0", "key1", "nowhere"};
  std::vector<rocksdb::ColumnFamilyHandle*> families(kKeys, family);
  std::vector<std::string> values;
  ExpectLookups("vectors", kKeys, kFound, [&] { store_->MultiGet(read_, keys, &values); });
  ExpectLookups("vectors with families", kKeys, kFound,
                [&] { store_->MultiGet(read_, families, keys, &values); });
  EXPECT_EQ(values, (std::vector<std::string>{"value", "value", ""}));
  std::array<rocksdb::PinnableSlice, kKeys> pinned;
  std::array<rocksdb::Status, kKeys> statuses;
  const auto again = [&pinned] {
    for (rocksdb::PinnableSlice& value : pinned) {
      value.Reset();
    }
  };
  ExpectLookups("arrays of one family", kKeys, kFound,
                [&] { store_->MultiGet(read_, family, kKeys, keys.data(), pinned.data(), statuses.data()); });
  EXPECT_EQ(pinned.front(), "value");
  EXPECT_TRUE(statuses.back().IsNotFound());
  again();
  ExpectLookups("arrays of families", kKeys, kFound, [&] {
    store_->MultiGet(read_, kKeys, families.data(), keys.data(), pinned.data(), statuses.data());
  });
  again();
  // RocksDB refuses timestamps for each key of a database without them; the lookups count all the same.
  std::array<std::string, kKeys> timestamps;
  const FlsmStatistics before = store_->Statistics();
  store_->MultiGet(read_, family, kKeys, keys.data(), pinned.data(), timestamps.data(), statuses.data());
  again();
  store_->MultiGet(read_, kKeys, families.data(), keys.data(), pinned.data(), timestamps.data(),
                   statuses.data());
  std::vector<std::string> stamps;
  store_->MultiGet(read_, keys, &values, &stamps);
  EXPECT_EQ(store_->Statistics().lookups - before.lookups, 3u * kKeys);
  ExpectLookups("no keys", 0, 0, [&] {
    store_->MultiGet(read_, family, 0, keys.data(), pinned.data(), statuses.data());
    store_->AddBusy(1);
  });
}

TEST_F(FlsmOperationsTest, CountsAndTimesEveryLookupOfOneKey) {
  OpenSampled(1);
  Put(0, 1, "value");
  ASSERT_TRUE(store_->Merge(write_, "merged", "value").ok());
  rocksdb::ColumnFamilyHandle* family = store_->DefaultColumnFamily();
  std::string value;
  rocksdb::PinnableSlice pinned;
  ExpectLookups("Get", 1, 1, [&] { EXPECT_TRUE(store_->Get(read_, "key0", &value).ok()); });
  ExpectLookups("Get pinned", 1, 1, [&] { EXPECT_TRUE(store_->Get(read_, family, "key0", &pinned).ok()); });
  rocksdb::PinnableWideColumns columns;
  ExpectLookups("GetEntity", 1, 1,
                [&] { EXPECT_TRUE(store_->GetEntity(read_, family, "key0", &columns).ok()); });
  std::array<rocksdb::PinnableSlice, 1> operands;
  rocksdb::GetMergeOperandsOptions how;
  how.expected_max_number_of_operands = 1;
  int count = 0;
  ExpectLookups("GetMergeOperands", 1, 1, [&] {
    EXPECT_TRUE(store_->GetMergeOperands(read_, family, "merged", operands.data(), &how, &count).ok());
  });
}

TEST_F(FlsmOperationsTest, TimesEveryWrite) {
  OpenSampled(1);
  rocksdb::ColumnFamilyHandle* family = store_->DefaultColumnFamily();
  ExpectWrite("Put", [&] { return store_->Put(write_, "key0", "value"); });
  ExpectWrite("Delete", [&] { return store_->Delete(write_, "key0"); });
  ExpectWrite("Merge", [&] { return store_->Merge(write_, "key1", "value"); });
  ExpectWrite("SingleDelete", [&] { return store_->SingleDelete(write_, "key2"); });
  ExpectWrite("DeleteRange", [&] { return store_->DeleteRange(write_, family, "key3", "key4"); });
  ExpectWrite("PutEntity", [&] {
    return store_->PutEntity(write_, family, "key5", rocksdb::WideColumns{{"one", "1"}});
  });
  rocksdb::WriteBatch batch;
  ASSERT_TRUE(batch.Put("key6", "value").ok());
  ExpectWrite("Write", [&] { return store_->Write(write_, &batch); });
}

TEST_F(FlsmOperationsTest, CountsEveryIterator) {
  OpenSampled(1);
  Put(0, 1, "value");
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  delete store_->NewIterator(read_);
  std::vector<rocksdb::Iterator*> iterators;
  rocksdb::ColumnFamilyHandle* family = store_->DefaultColumnFamily();
  ASSERT_TRUE(store_->NewIterators(read_, {family, family}, &iterators).ok());
  for (const rocksdb::Iterator* iterator : iterators) {
    delete iterator;
  }
  const FlsmStatistics statistics = store_->Statistics();
  EXPECT_EQ(statistics.iterators, 3u);
  EXPECT_EQ(statistics.levels[0].scanned, 3u) << "each iterator sees the one file of level 0";
}

// Sampled keys of a MultiGet represent as many lookups as sampled single keys do.
TEST_F(FlsmOperationsTest, SampledMultiGetsEstimateAllLookups) {
  constexpr uint64_t kSampleEvery = 8;
  constexpr std::size_t kMaxKeys = 20;
  OpenSampled(kSampleEvery);
  Put(0, 4000, std::string(100, 'v'));
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  const FlsmStatistics before = store_->Statistics();
  std::array<rocksdb::PinnableSlice, kMaxKeys> values;
  std::array<rocksdb::Status, kMaxKeys> statuses;
  uint64_t asked = 0;
  for (std::size_t round = 0; round < 400; ++round) {
    const std::size_t keys = 1 + round % kMaxKeys;  // both fewer than sample_every and more
    std::vector<std::string> names;
    for (std::size_t key = 0; key < keys; ++key) {
      names.push_back("key" + std::to_string((round * 37 + key * 101) % 4000));
    }
    const std::vector<rocksdb::Slice> slices(names.begin(), names.end());
    store_->MultiGet(read_, store_->DefaultColumnFamily(), keys, slices.data(), values.data(),
                     statuses.data());
    for (std::size_t key = 0; key < keys; ++key) {
      ASSERT_TRUE(statuses[key].ok());
      values[key].Reset();
    }
    asked += keys;
  }
  const FlsmStatistics after = store_->Statistics();
  EXPECT_EQ(after.lookups - before.lookups, asked);
  EXPECT_EQ(after.found - before.found, asked);
  EXPECT_NEAR(static_cast<double>(Timed(after) - Timed(before)), static_cast<double>(asked), kSampleEvery);
  uint64_t found = 0;
  for (std::size_t level = 0; level < after.levels.size(); ++level) {
    found += after.levels[level].found - before.levels[level].found;
  }
  EXPECT_NEAR(static_cast<double>(found), static_cast<double>(asked), 0.02 * static_cast<double>(asked));
}

// A MultiGet has the same statistics by level as lookups of the same keys one by one.
TEST_F(FlsmOperationsTest, MultiGetCountsByLevelAsSingleGetsDo) {
  FlsmOptions layout = Layout({1});
  layout.sample_every = 1;
  layout.filters.bits_per_key = 4;
  ASSERT_TRUE(Open(layout).ok());
  Put(0, 4000, std::string(100, 'v'));
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  std::vector<std::string> names;
  for (int key = 0; key < 200; ++key) {
    names.push_back("key" + std::to_string(key * 13) + (key % 3 == 0 ? "x" : ""));
  }
  const FlsmStatistics begun = store_->Statistics();
  std::string value;
  for (const std::string& name : names) {
    store_->Get(read_, name, &value).PermitUncheckedError();
  }
  const FlsmStatistics one_by_one = store_->Statistics();
  const std::vector<rocksdb::Slice> slices(names.begin(), names.end());
  std::vector<rocksdb::PinnableSlice> values(names.size());
  std::vector<rocksdb::Status> statuses(names.size());
  store_->MultiGet(read_, store_->DefaultColumnFamily(), names.size(), slices.data(), values.data(),
                   statuses.data());
  const FlsmStatistics together = store_->Statistics();
  uint64_t passed = 0;
  for (std::size_t level = 0; level < together.levels.size(); ++level) {
    const FlsmLevelStatistics& first = begun.levels[level];
    const FlsmLevelStatistics& second = one_by_one.levels[level];
    const FlsmLevelStatistics& third = together.levels[level];
    EXPECT_EQ(third.found - second.found, second.found - first.found) << "level " << level;
    EXPECT_EQ(third.filtered - second.filtered, second.filtered - first.filtered) << "level " << level;
    EXPECT_EQ(third.passed - second.passed, second.passed - first.passed) << "level " << level;
    EXPECT_EQ(third.false_positives - second.false_positives, second.false_positives - first.false_positives);
    EXPECT_EQ(third.read_ns > second.read_ns, second.read_ns > first.read_ns) << "level " << level;
    EXPECT_LE(third.false_positive_read_ns - second.false_positive_read_ns, third.read_ns - second.read_ns)
        << "level " << level;
    passed += third.passed - second.passed;
  }
  EXPECT_GT(passed, 0u);
  EXPECT_EQ(together.quiet.passed - one_by_one.quiet.passed, passed);
}

}  // namespace
}  // namespace rocktune
