// Random operations on an FLSM store with column families and on a map for each family.

#include <gtest/gtest.h>
#include <rocksdb/utilities/checkpoint.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/flsm/fake_flsm_families.h"

namespace rocktune {
namespace {

// Returns the number of operations of a test; ROCKTUNE_STEPS sets another.
int Steps() {
  const char* steps = std::getenv("ROCKTUNE_STEPS");
  return steps == nullptr ? 4000 : std::stoi(steps);
}

class FlsmFamiliesModelTest : public FlsmFamiliesTest, public testing::WithParamInterface<int> {
 protected:
  using Model = std::map<std::string, std::string>;
  static constexpr int kKeys = 800;
  static constexpr std::size_t kMaxFamilies = 5;

  int Below(int bound) { return static_cast<int>(random_() % static_cast<uint32_t>(bound)); }
  std::size_t AnyFamily() { return static_cast<std::size_t>(Below(static_cast<int>(handles_.size()))); }
  std::string Key() { return "key" + std::to_string(Below(kKeys)); }

  // Writes a batch over several families.
  void Write() {
    rocksdb::WriteBatch batch;
    for (int left = 1 + Below(8); left > 0; --left) {
      const std::size_t family = AnyFamily();
      const std::string key = Key();
      if (Below(5) == 0) {
        ASSERT_TRUE(batch.Delete(handles_[family], key).ok());
        models_[family].erase(key);
      } else {
        const std::string value(static_cast<std::size_t>(Below(900)), static_cast<char>('a' + Below(26)));
        ASSERT_TRUE(batch.Put(handles_[family], key, value).ok());
        models_[family][key] = value;
      }
    }
    const rocksdb::Status status = store_->Write(rocksdb::WriteOptions(), &batch);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  // Looks keys of several families up together.
  void Read() {
    std::vector<rocksdb::ColumnFamilyHandle*> families;
    std::vector<std::size_t> numbers;
    std::vector<std::string> names;
    for (int left = 1 + Below(5); left > 0; --left) {
      numbers.push_back(AnyFamily());
      families.push_back(handles_[numbers.back()]);
      names.push_back(Key());
    }
    std::vector<std::string> values;
    const auto statuses = store_->MultiGet(rocksdb::ReadOptions(), families,
                                           std::vector<rocksdb::Slice>(names.begin(), names.end()), &values);
    for (std::size_t place = 0; place < names.size(); ++place) {
      const Model& model = models_[numbers[place]];
      const auto expected = model.find(names[place]);
      ASSERT_EQ(statuses[place].ok(), expected != model.end()) << names[place];
      if (statuses[place].ok()) {
        ASSERT_EQ(values[place], expected->second) << names[place];
      }
    }
  }

  // Compares all families of a store, through iterators made together.
  static void CompareAll(FlsmStore* store, const std::vector<rocksdb::ColumnFamilyHandle*>& handles,
                         const std::vector<Model>& expected, const rocksdb::Snapshot* snapshot) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    std::vector<rocksdb::Iterator*> made;
    ASSERT_TRUE(store->NewIterators(options, handles, &made).ok());
    for (std::size_t family = 0; family < made.size(); ++family) {
      const std::unique_ptr<rocksdb::Iterator> iterator(made[family]);
      Model found;
      for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
        found[iterator->key().ToString()] = iterator->value().ToString();
      }
      EXPECT_TRUE(iterator->status().ok());
      EXPECT_EQ(found == expected[family], true) << "family " << family;
    }
  }

  void CreateOrDrop() {
    if (handles_.size() < kMaxFamilies && Below(2) == 0) {
      names_.push_back("made" + std::to_string(made_++));
      handles_.emplace_back();
      models_.emplace_back();
      ASSERT_TRUE(
          store_->CreateColumnFamily(SmallOptions(), names_.back(), Layout({1 + Below(4)}), &handles_.back())
              .ok());
    } else if (handles_.size() > 1) {
      ASSERT_TRUE(store_->DropColumnFamily(handles_.back()).ok());
      ASSERT_TRUE(store_->DestroyColumnFamilyHandle(handles_.back()).ok());
      names_.pop_back();
      handles_.pop_back();
      models_.pop_back();
    }
  }

  std::vector<FlsmFamily> Families() {
    FlsmOptions layout;
    layout.granularity = Below(2) == 0 ? FlsmGranularity::kLevels : FlsmGranularity::kFiles;
    std::vector<FlsmFamily> families;
    for (const std::string& name : names_) {
      families.push_back({name, SmallOptions(), layout});
    }
    return families;
  }

  void CompareACheckpoint() {
    const std::string copy = directory_ + "-copy";
    std::filesystem::remove_all(copy);
    rocksdb::Checkpoint* raw = nullptr;
    ASSERT_TRUE(rocksdb::Checkpoint::Create(store_.get(), &raw).ok());
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
    ASSERT_TRUE(checkpoint->CreateCheckpoint(copy, Below(2) == 0 ? 0 : UINT64_MAX).ok());
    std::unique_ptr<FlsmStore> store;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    const rocksdb::Status status = FlsmStore::Open(SmallOptions(), copy, Families(), &handles, &store);
    ASSERT_TRUE(status.ok()) << status.ToString();
    CompareAll(store.get(), handles, models_, nullptr);
  }

  void ChangePolicy() {
    rocksdb::ColumnFamilyHandle* family = handles_[AnyFamily()];
    const auto transition = static_cast<FlsmTransition>(Below(3));
    const bool refused =
        transition == FlsmTransition::kLazy && store_->Shape(family).granularity == FlsmGranularity::kFiles;
    EXPECT_EQ(store_->SetPolicy(family, 1 + Below(4), 1 + Below(3), transition).ok(), !refused);
  }

  std::mt19937 random_{static_cast<uint32_t>(GetParam())};
  std::vector<std::string> names_ = {rocksdb::kDefaultColumnFamilyName};
  std::vector<Model> models_ = std::vector<Model>(1);
  int made_ = 0;
};

TEST_P(FlsmFamiliesModelTest, BehavesLikeMaps) {
  std::vector<FlsmFamily> families = Families();
  families.front().layout = Layout({2});
  ASSERT_TRUE(OpenFamilies(families, directory_).ok());
  for (int step = 0; step < Steps() && !HasFatalFailure() && !HasNonfatalFailure(); ++step) {
    const int what = Below(1000);
    if (what < 600) {
      Write();
    } else if (what < 970) {
      Read();
    } else if (what < 980) {
      ChangePolicy();
    } else if (what < 988) {
      CreateOrDrop();
    } else if (what < 992) {
      const rocksdb::Snapshot* snapshot = store_->GetSnapshot();
      const std::vector<Model> then = models_;
      for (int writes = 0; writes < 50; ++writes) {
        Write();
      }
      ChangePolicy();
      CompareAll(store_.get(), handles_, then, snapshot);
      store_->ReleaseSnapshot(snapshot);
    } else if (what < 994) {
      CompareACheckpoint();
    } else if (what < 997) {
      CompareAll(store_.get(), handles_, models_, nullptr);
    } else {
      store_.reset();
      const rocksdb::Status status = OpenFamilies(Families(), directory_);
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
  }
  Settle();
  CompareAll(store_.get(), handles_, models_, nullptr);
  EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    ExpectShapeMatches(handle);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FlsmFamiliesModelTest, testing::Range(0, 2));
INSTANTIATE_TEST_SUITE_P(SlowSeeds, FlsmFamiliesModelTest, testing::Range(2, 20));

}  // namespace
}  // namespace rocktune
