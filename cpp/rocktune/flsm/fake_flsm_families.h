#pragma once

#include <gtest/gtest.h>
#include <rocksdb/write_batch.h>

#include <filesystem>
#include <string>
#include <vector>

#include "rocktune/flsm/fake_flsm_store.h"

namespace rocktune {

// A fixture with a store of three column families.
class FlsmFamiliesTest : public FlsmStoreTest {
 protected:
  ~FlsmFamiliesTest() override {
    store_.reset();
    for (const char* each : {"-copy", "-backups", "-more.sst"}) {
      std::filesystem::remove_all(directory_ + each);
    }
  }

  // Returns `default` with K = 2, `events` with T = 3 and K = 3, and `users` with K = 1.
  static std::vector<FlsmFamily> Three() {
    FlsmOptions events = Layout({3});
    events.size_ratio = 3;
    return {{rocksdb::kDefaultColumnFamilyName, SmallOptions(), Layout({2})},
            {"events", SmallOptions(), events},
            {"users", SmallOptions(), Layout({1})}};
  }
  rocksdb::Status OpenFamilies(const std::vector<FlsmFamily>& families, const std::string& path) {
    rocksdb::Options options = SmallOptions();
    options.create_missing_column_families = true;
    return FlsmStore::Open(options, path, families, &handles_, &store_);
  }
  void OpenThree() {
    const rocksdb::Status status = OpenFamilies(Three(), directory_);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_EQ(handles_.size(), 3u);
  }
  // Writes entries to each of the three families, of which each has a value of its own, in batches.
  void Fill(int entries) {
    for (int key = 0; key < entries; ++key) {
      rocksdb::WriteBatch batch;
      for (std::size_t family = 0; family < handles_.size(); ++family) {
        ASSERT_TRUE(batch.Put(handles_[family], "key" + std::to_string(key), Value(family)).ok());
      }
      ASSERT_TRUE(store_->Write(rocksdb::WriteOptions(), &batch).ok());
    }
  }
  static std::string Value(std::size_t family) { return std::string(500 + 100 * family, 'a' + char(family)); }
  void Settle() {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions(), handle).ok());
    }
    const rocksdb::Status status = store_->WaitUntilSettled();
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  void ExpectFilled(int entries) {
    std::string value;
    for (std::size_t family = 0; family < handles_.size(); ++family) {
      for (int key = 0; key < entries; key += 7) {
        const rocksdb::Status status =
            store_->Get(rocksdb::ReadOptions(), handles_[family], "key" + std::to_string(key), &value);
        ASSERT_TRUE(status.ok()) << family << " " << key << ": " << status.ToString();
        ASSERT_EQ(value, Value(family)) << key;
      }
      ExpectShapeMatches(handles_[family]);
    }
  }
  void ExpectShapeMatches(rocksdb::ColumnFamilyHandle* family) {
    // A store that was just opened may be merging what its WAL held.
    ASSERT_TRUE(store_->WaitUntilSettled().ok());
    const FlsmShape shape = store_->Shape(family);
    EXPECT_EQ(Violation(shape), "");
    FlsmShape asked = shape;
    ReadRuns(store_.get(), family, &asked);
    EXPECT_EQ(ToText(shape), ToText(asked)) << family->GetName();
  }
  // Expects the policies and size ratios of Three, with a K of 3 that was set at level 2 of `events`.
  void ExpectPolicies() {
    EXPECT_EQ(store_->Shape().size_ratio, 4);
    EXPECT_EQ(store_->Shape().level(2).policy, 2);
    EXPECT_EQ(store_->Shape(handles_[1]).size_ratio, 3);
    EXPECT_EQ(store_->Shape(handles_[1]).level(1).policy, 3);
    EXPECT_EQ(store_->Shape(handles_[1]).level(2).policy, 1);
    EXPECT_EQ(store_->Shape(handles_[2]).level(1).policy, 1);
  }
  void MakeStore(int entries) {
    OpenThree();
    Fill(entries);
    ASSERT_TRUE(store_->SetPolicy(handles_[1], 2, 1, FlsmTransition::kFlexible).ok());
    Settle();
  }
  static std::vector<FlsmFamily> AsTheyAre() {
    std::vector<FlsmFamily> families = Three();
    for (FlsmFamily& family : families) {
      family.layout = FlsmOptions();
    }
    return families;
  }

  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

}  // namespace rocktune
