#pragma once

#include <gtest/gtest.h>
#include <rocksdb/options.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/flsm/flsm_store.h"

namespace rocktune {

// For tests: a store in a directory of its own, small enough that a few thousand entries make a tree.
class FlsmStoreTest : public testing::Test {
 protected:
  ~FlsmStoreTest() override {
    store_.reset();
    std::filesystem::remove_all(directory_);
  }

  static rocksdb::Options Small() {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = 64 << 10;
    options.target_file_size_base = 64 << 10;
    options.compression = rocksdb::kNoCompression;
    return options;
  }
  static FlsmOptions Layout(std::vector<int> policies) {
    FlsmOptions layout;
    layout.size_ratio = 4;
    layout.policies = std::move(policies);
    return layout;
  }
  rocksdb::Status Open(const FlsmOptions& layout) {
    return FlsmStore::Open(Small(), layout, directory_, &store_);
  }
  void Reopen() {
    store_.reset();
    ASSERT_TRUE(Open(FlsmOptions()).ok());
  }

  void Put(int first, int count, const std::string& value) {
    for (int key = first; key < first + count; ++key) {
      ASSERT_TRUE(store_->Put(rocksdb::WriteOptions(), "key" + std::to_string(key), value).ok());
    }
  }

  static std::string NewDirectory() {
    std::string pattern = testing::TempDir() + "flsm-XXXXXX";
    return mkdtemp(pattern.data());
  }

  const std::string directory_ = NewDirectory();
  std::unique_ptr<FlsmStore> store_;
};

}  // namespace rocktune
