#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/write_batch.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rocktune/flsm/fake_flsm_store.h"

namespace rocktune {
namespace {

// More steps are a matter of time: ROCKTUNE_STEPS.
int Steps() {
  const char* steps = std::getenv("ROCKTUNE_STEPS");
  return steps == nullptr ? 15'000 : std::stoi(steps);
}

// Random operations against a map, with policies changed, snapshots held and the store opened again at
// random.
class FlsmModelTest : public FlsmStoreTest, public testing::WithParamInterface<int> {
 protected:
  static constexpr int kKeys = 3000;

  std::string Key() { return "key" + std::to_string(random_() % kKeys); }
  int Below(int bound) { return static_cast<int>(random_() % static_cast<uint32_t>(bound)); }

  void Write() {
    rocksdb::WriteBatch batch;
    for (int left = Below(4) == 0 ? 1 + Below(20) : 1; left > 0; --left) {
      const std::string key = Key();
      if (Below(5) == 0) {
        ASSERT_TRUE(batch.Delete(key).ok());
        model_.erase(key);
      } else {
        const std::string value(static_cast<std::size_t>(Below(600)), static_cast<char>('a' + Below(26)));
        ASSERT_TRUE(batch.Put(key, value).ok());
        model_[key] = value;
      }
    }
    ASSERT_TRUE(store_->Write(rocksdb::WriteOptions(), &batch).ok());
  }

  void Read() {
    const std::string key = Key();
    std::string value;
    const rocksdb::Status status = store_->Get(rocksdb::ReadOptions(), key, &value);
    const auto expected = model_.find(key);
    ASSERT_EQ(status.ok(), expected != model_.end()) << key << ": " << status.ToString();
    if (status.ok()) {
      ASSERT_EQ(value, expected->second) << key;
    }
  }

  void CompareAll(const std::map<std::string, std::string>& expected, const rocksdb::Snapshot* snapshot) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<rocksdb::Iterator> iterator(store_->NewIterator(options));
    auto next = expected.begin();
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++next) {
      ASSERT_NE(next, expected.end());
      ASSERT_EQ(iterator->key().ToString(), next->first);
      ASSERT_EQ(iterator->value().ToString(), next->second);
    }
    ASSERT_TRUE(iterator->status().ok());
    ASSERT_EQ(next, expected.end());
  }

  // Opens the store anew, with a granularity of its own each time.
  void OpenAnew(FlsmOptions layout) {
    layout.granularity = Below(2) == 0 ? FlsmGranularity::kLevels : FlsmGranularity::kFiles;
    store_.reset();
    ASSERT_TRUE(Open(layout).ok());
  }

  void ChangePolicy() {
    const auto transition = static_cast<FlsmTransition>(Below(3));
    const rocksdb::Status status = store_->SetPolicy(1 + Below(5), 1 + Below(4), transition);
    const bool refused =
        transition == FlsmTransition::kLazy && store_->Shape().granularity == FlsmGranularity::kFiles;
    ASSERT_EQ(status.ok(), !refused) << status.ToString();
  }

  std::mt19937 random_{static_cast<uint32_t>(GetParam())};
  std::map<std::string, std::string> model_;
};

TEST_P(FlsmModelTest, DiffersFromAMapInNothing) {
  OpenAnew(Layout({1 + Below(4), 1 + Below(4)}));
  const int steps = Steps();
  const rocksdb::Snapshot* snapshot = nullptr;
  std::map<std::string, std::string> then;
  const auto release = [&] {
    if (snapshot != nullptr) {
      CompareAll(then, snapshot);
      store_->ReleaseSnapshot(snapshot);
      snapshot = nullptr;
    }
  };
  for (int step = 0; step < steps && !HasFatalFailure(); ++step) {
    const int what = Below(3000);
    if (what < 1800) {
      Write();
    } else if (what < 2980) {
      Read();
    } else if (what < 2990) {
      ChangePolicy();
    } else if (what < 2994) {
      release();
      snapshot = store_->GetSnapshot();
      then = model_;
    } else if (what < 2997) {
      CompareAll(model_, nullptr);
    } else {
      release();
      OpenAnew(FlsmOptions());
    }
  }
  release();
  // Or the memtable that was filled last may still be on its way when the store says it has settled.
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  store_->WaitUntilSettled();
  CompareAll(model_, nullptr);
  EXPECT_EQ(Broken(store_->Shape()), "");
  EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
  FlsmShape asked = store_->Shape();
  ReadRuns(store_.get(), &asked);
  EXPECT_EQ(ToText(store_->Shape()), ToText(asked)) << "kept by the store, and as RocksDB says";
}

INSTANTIATE_TEST_SUITE_P(Seeds, FlsmModelTest, testing::Range(0, 6));

}  // namespace
}  // namespace rocktune
