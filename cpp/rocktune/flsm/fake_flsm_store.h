#pragma once

#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rocktune/flsm/flsm_runs.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/flsm_store.h"

namespace rocktune {

// A fixture with a store in a temporary directory. Its options are so small that a few thousand entries fill
// several levels. T is 4 in Layout.
class FlsmStoreTest : public testing::Test {
 protected:
  ~FlsmStoreTest() override {
    store_.reset();
    std::filesystem::remove_all(directory_);
  }

  // Returns options with memtables and tables of 64 KiB, without compression, with operator stringappend.
  static rocksdb::Options SmallOptions() {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = 64 << 10;
    options.target_file_size_base = 64 << 10;
    options.compression = rocksdb::kNoCompression;
    EXPECT_TRUE(rocksdb::MergeOperator::CreateFromString(rocksdb::ConfigOptions(), "stringappend",
                                                         &options.merge_operator)
                    .ok());
    return options;
  }
  // Returns a layout of T = 4 with these policies.
  static FlsmOptions Layout(std::vector<int> policies) {
    FlsmOptions layout;
    layout.size_ratio = 4;
    layout.policies = std::move(policies);
    return layout;
  }
  // Opens the store in the fixture's directory, or creates it.
  rocksdb::Status Open(const FlsmOptions& layout) {
    return FlsmStore::Open(SmallOptions(), layout, directory_, &store_);
  }
  // Closes the store and opens it with its own layout.
  void Reopen() {
    store_.reset();
    ASSERT_TRUE(Open(FlsmOptions()).ok());
  }

  // Writes `count` entries from key number `first` on, all with the same value.
  void Put(int first, int count, const std::string& value) {
    for (int key = first; key < first + count; ++key) {
      ASSERT_TRUE(store_->Put(rocksdb::WriteOptions(), "key" + std::to_string(key), value).ok());
    }
  }

  // Writes `count` entries. Afterwards no compaction is due, and at least two files wait in level 0.
  void FillAndSettle(int count) {
    ASSERT_TRUE(Open(Layout({4})).ok());
    Put(0, count, std::string(1000, 'v'));
    ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
    ASSERT_TRUE(store_->WaitUntilSettled().ok());
    FlushToLevel0();
  }
  // Flushes until at least two files wait in level 0 and no compaction is due. REQUIRES: the policy of level
  // 1 is at least 2.
  void FlushToLevel0() {
    for (int flush = 0; flush < 8 && store_->Shape().level0_files < 2; ++flush) {
      Put(0, 2, "value");  // overlapping files, which RocksDB cannot move without rewriting
      ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
      ASSERT_TRUE(store_->WaitUntilSettled().ok());
    }
    ASSERT_GE(store_->Shape().level0_files, 2u) << ToText(store_->Shape());
  }
  // Makes a compaction of level 0 due, by a policy with fewer runs. REQUIRES: FlushToLevel0.
  void MakeCompactionsDue() { ASSERT_TRUE(store_->SetPolicy(1, 1).ok()); }
  // Returns the bytes of all levels but level 0.
  uint64_t BytesInRuns() const {
    uint64_t bytes = 0;
    for (const FlsmLevel& level : store_->Shape().levels) {
      bytes += level.bytes();
    }
    return bytes;
  }
  // Expects that the shape breaks no rule, and that its runs are those in RocksDB's metadata. They differ for
  // the moment of a merge, so that it waits for up to 10 s.
  void ExpectShapeMatchesRocksDb() {
    FlsmShape shape;
    FlsmShape asked;
    for (int tries = 0; tries < 1000; ++tries) {
      shape = store_->Shape();
      asked = shape;
      ReadRuns(store_.get(), store_->DefaultColumnFamily(), &asked);
      if (ToText(shape) == ToText(asked)) {
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(Violation(shape), "");
    EXPECT_EQ(ToText(shape), ToText(asked));
  }

  static std::string NewDirectory() {
    std::string pattern = testing::TempDir() + "flsm-XXXXXX";
    return mkdtemp(pattern.data());
  }

  const std::string directory_ = NewDirectory();
  std::unique_ptr<FlsmStore> store_;
};

}  // namespace rocktune
