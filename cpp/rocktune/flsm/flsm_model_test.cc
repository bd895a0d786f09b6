#include <gtest/gtest.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/flsm/fake_flsm_store.h"

namespace rocktune {
namespace {

// Returns the number of operations of a test; ROCKTUNE_STEPS sets another.
int Steps() {
  const char* steps = std::getenv("ROCKTUNE_STEPS");
  return steps == nullptr ? 15'000 : std::stoi(steps);
}

// Runs random operations on a store and a std::map. Also changes policies, holds snapshots and reopens the
// store at random.
class FlsmModelTest : public FlsmStoreTest, public testing::WithParamInterface<int> {
 protected:
  static constexpr int kKeys = 3000;
  static constexpr int kMergedKeys = 1000;

  // A quarter of the keys are merged ones, which DeleteRange never covers: RocksDB's own Get loses the base
  // of a merge that a range deletion, older than it, and a snapshot in between leave to the next file of its
  // level (docs/design/rocksdb-faults.md).
  std::string Key() { return Below(4) == 0 ? MergedKey() : "key" + std::to_string(random_() % kKeys); }
  std::string MergedKey() { return "merged" + std::to_string(random_() % kMergedKeys); }
  int Below(int bound) { return static_cast<int>(random_() % static_cast<uint32_t>(bound)); }

  std::string Value() {
    return std::string(static_cast<std::size_t>(Below(600)), static_cast<char>('a' + Below(26)));
  }

  void Write() {
    rocksdb::WriteBatch batch;
    for (int left = Below(4) == 0 ? 1 + Below(20) : 1; left > 0; --left) {
      const std::string key = Key();
      if (Below(5) == 0) {
        ASSERT_TRUE(batch.Delete(key).ok());
        model_.erase(key);
      } else {
        model_[key] = Value();
        ASSERT_TRUE(batch.Put(key, model_[key]).ok());
      }
    }
    ASSERT_TRUE(store_->Write(rocksdb::WriteOptions(), &batch).ok());
  }

  // Appends to a key's value, as the merge operator does.
  void Merge() {
    const std::string key = MergedKey();
    const std::string value = Value();
    ASSERT_TRUE(store_->Merge(rocksdb::WriteOptions(), key, value).ok());
    const auto known = model_.find(key);
    model_[key] = known == model_.end() ? value : known->second + "," + value;
  }

  // Uses keys of its own: SingleDelete requires that a key was written only once.
  void PutOrDeleteOnce() {
    if (Below(2) == 0 || once_.empty()) {
      once_.push_back("once" + std::to_string(puts_once_++));
      model_[once_.back()] = Value();
      ASSERT_TRUE(store_->Put(rocksdb::WriteOptions(), once_.back(), model_[once_.back()]).ok());
      return;
    }
    std::swap(once_[static_cast<std::size_t>(Below(static_cast<int>(once_.size())))], once_.back());
    ASSERT_TRUE(store_->SingleDelete(rocksdb::WriteOptions(), once_.back()).ok());
    model_.erase(once_.back());
    once_.pop_back();
  }

  void DeleteRange() {
    const int first = Below(kKeys - 20);
    const auto [begin, end] =
        std::minmax({"key" + std::to_string(first), "key" + std::to_string(first + 20)});
    ASSERT_TRUE(store_->DeleteRange(rocksdb::WriteOptions(), store_->DefaultColumnFamily(), begin, end).ok());
    model_.erase(model_.lower_bound(begin), model_.lower_bound(end));
  }

  // Ingests a table with some keys of a narrow or a wide range.
  void Ingest() {
    std::map<std::string, std::string> entries;
    const int first = Below(kKeys - 40);
    for (int left = 1 + Below(30); left > 0; --left) {
      entries["key" + std::to_string(Below(2) == 0 ? first + Below(40) : Below(kKeys))] = Value();
    }
    const std::string table = directory_ + "-ingested.sst";
    rocksdb::SstFileWriter writer((rocksdb::EnvOptions()), SmallOptions());
    ASSERT_TRUE(writer.Open(table).ok());
    for (const auto& [key, value] : entries) {
      ASSERT_TRUE(writer.Put(key, value).ok());
      model_[key] = value;
    }
    ASSERT_TRUE(writer.Finish().ok());
    rocksdb::IngestExternalFileOptions how;
    how.move_files = true;
    ASSERT_TRUE(store_->IngestExternalFile({table}, how).ok());
  }

  void ReadTogether() {
    std::vector<std::string> names(static_cast<std::size_t>(1 + Below(30)));
    std::generate(names.begin(), names.end(), [this] { return Key(); });
    const std::vector<rocksdb::Slice> keys(names.begin(), names.end());
    std::vector<rocksdb::PinnableSlice> values(names.size());
    std::vector<rocksdb::Status> statuses(names.size());
    store_->MultiGet(rocksdb::ReadOptions(), store_->DefaultColumnFamily(), keys.size(), keys.data(),
                     values.data(), statuses.data());
    for (std::size_t place = 0; place < names.size(); ++place) {
      const auto expected = model_.find(names[place]);
      ASSERT_EQ(statuses[place].ok(), expected != model_.end()) << names[place];
      if (statuses[place].ok()) {
        ASSERT_EQ(values[place], expected->second) << names[place];
      }
    }
  }

  // Calls that concern the store as a whole: Flush, PauseBackgroundWork, Close, SetOptions.
  void CallOnStore(bool has_snapshot) {
    switch (Below(4)) {
      case 0:
        ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
        break;
      case 1:
        ASSERT_TRUE(store_->PauseBackgroundWork().ok());
        ASSERT_TRUE(store_->ContinueBackgroundWork().ok());
        break;
      case 2:
        if (has_snapshot) {
          ASSERT_TRUE(store_->Close().IsAborted());
        }
        break;
      default:
        ASSERT_TRUE(store_
                        ->SetOptions({{"level0_slowdown_writes_trigger", Below(2) == 0 ? "6" : "20"},
                                      {"target_file_size_base", Below(2) == 0 ? "32768" : "65536"}})
                        .ok());
    }
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

  // Reopens the store with a random granularity.
  void OpenWithRandomGranularity(FlsmOptions layout) {
    layout.max_merge_bytes = Below(2) == 0 ? 0 : 128 << 10;
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
  std::vector<std::string> once_;  // keys that PutOrDeleteOnce can delete
  int puts_once_ = 0;
};

TEST_P(FlsmModelTest, BehavesLikeAMap) {
  OpenWithRandomGranularity(Layout({1 + Below(4), 1 + Below(4)}));
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
    if (what < 1500) {
      Write();
    } else if (what < 1700) {
      Merge();
    } else if (what < 1800) {
      PutOrDeleteOnce();
    } else if (what < 1810) {
      DeleteRange();
    } else if (what < 1815) {
      Ingest();
    } else if (what < 1900) {
      ReadTogether();
    } else if (what < 2970) {
      Read();
    } else if (what < 2975) {
      CallOnStore(snapshot != nullptr);
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
      OpenWithRandomGranularity(FlsmOptions());
    }
  }
  release();
  // WaitUntilSettled does not wait for the flush of a full memtable, which would change the shape afterwards.
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  CompareAll(model_, nullptr);
  EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
  ExpectShapeMatchesRocksDb();
}

INSTANTIATE_TEST_SUITE_P(Seeds, FlsmModelTest, testing::Range(0, 2));
INSTANTIATE_TEST_SUITE_P(SlowSeeds, FlsmModelTest, testing::Range(2, 20));

}  // namespace
}  // namespace rocktune
