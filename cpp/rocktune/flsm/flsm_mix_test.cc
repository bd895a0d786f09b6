// Threads write, read, scan, change policies, create and drop families and take checkpoints at the same time
// on an FLSM store with column families. Each value that is read is checked against the versions that it may
// have. ROCKTUNE_MIX_SECONDS sets the duration.

#include <gtest/gtest.h>
#include <rocksdb/utilities/checkpoint.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/flsm/fake_flsm_families.h"

namespace rocktune {
namespace {

constexpr std::size_t kFamilies = 3;
constexpr std::size_t kKeys = 2000;
constexpr std::size_t kWriters = 2;  // each one owns every kWriters-th key

double Seconds(double otherwise) {
  const char* seconds = std::getenv("ROCKTUNE_MIX_SECONDS");
  return seconds == nullptr ? otherwise : std::stod(seconds);
}

// The versions of a key that a reader may find: every write makes the next one, and each fifth is a deletion.
// A reader takes `written` before it reads and `begun` afterwards.
struct Versions {
  std::atomic<uint64_t> begun{0};
  std::atomic<uint64_t> written{0};
};

bool IsDeletion(uint64_t version) { return version % 5 == 0; }

std::string NameOf(std::size_t key) { return std::to_string(100'000 + key); }

std::string ValueOf(std::size_t family, std::size_t key, uint64_t version) {
  const std::string text =
      std::to_string(version) + "/" + std::to_string(family) + "/" + std::to_string(key) + "/";
  return text + std::string(version * 37 % 700, static_cast<char>('a' + version % 26));
}

class FlsmMixTest : public FlsmFamiliesTest {
 protected:
  using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;
  using Lows = std::vector<uint64_t>;  // by key
  using Random = std::mt19937;

  // Runs the mix, and expects that the store then has exactly what was written, also when it is opened again.
  void RunMix(double seconds) {
    OpenThree();
    std::vector<std::thread> threads;
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    const auto start = [&](const std::function<void(Random*)>& step) {
      threads.emplace_back([this, step, until, seed = threads.size()] {
        Random random(static_cast<uint32_t>(seed));
        while (!HasFailure() && std::chrono::steady_clock::now() < until) {
          step(&random);
          ++steps_;
        }
      });
    };
    for (std::size_t writer = 0; writer < kWriters; ++writer) {
      start([this, writer](Random* random) { Write(writer, random); });
    }
    start([this](Random* random) { Read(random); });
    start([this](Random* random) { Scan(random); });
    start([this](Random* random) { ChangePolicy(random); });
    start([this](Random* /*random*/) { CreateAndDrop(); });
    start([this](Random* /*random*/) { TakeCheckpoint(); });
    for (std::thread& thread : threads) {
      thread.join();
    }
    Settle();
    EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
    ExpectAll(store_.get(), handles_, Written(), nullptr);
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      ExpectShapeMatches(handle);
    }
    store_.reset();
    ASSERT_TRUE(OpenFamilies(AsTheyAre(), directory_).ok());
    ExpectAll(store_.get(), handles_, Written(), nullptr);
    RecordProperty("steps", std::to_string(steps_));
  }

  // Writes the next version of a few keys of a family, in one batch.
  void Write(std::size_t writer, Random* random) {
    rocksdb::WriteBatch batch;
    std::array<std::size_t, kFamilies> keys{};
    for (std::size_t family = 0; family < kFamilies; ++family) {
      keys[family] = (*random)() % (kKeys / kWriters) * kWriters + writer;
      const uint64_t version = ++versions_[family][keys[family]].begun;
      if (IsDeletion(version)) {
        EXPECT_TRUE(batch.Delete(handles_[family], NameOf(keys[family])).ok());
      } else {
        EXPECT_TRUE(
            batch.Put(handles_[family], NameOf(keys[family]), ValueOf(family, keys[family], version)).ok());
      }
    }
    const rocksdb::Status status = store_->Write(rocksdb::WriteOptions(), &batch);
    EXPECT_TRUE(status.ok()) << status.ToString();
    for (std::size_t family = 0; family < kFamilies; ++family) {
      ++versions_[family][keys[family]].written;
    }
  }

  // Expects that a value, or nullptr for a deleted key, is that of a version from `low` to `high`.
  static void ExpectVersion(std::size_t family, std::size_t key, const std::string* value, uint64_t low,
                            uint64_t high) {
    uint64_t version = value == nullptr ? low : std::stoull(*value);
    while (value == nullptr && version < high && !IsDeletion(version)) {
      ++version;
    }
    EXPECT_GE(version, low) << "family " << family << ", key " << key << ": a lost write";
    EXPECT_LE(version, high) << "family " << family << ", key " << key;
    EXPECT_EQ(value == nullptr, IsDeletion(version)) << "family " << family << ", key " << key;
    if (value != nullptr) {
      EXPECT_EQ(*value, ValueOf(family, key, version));
    }
  }

  void Read(Random* random) {
    const std::size_t family = (*random)() % kFamilies;
    const std::size_t key = (*random)() % kKeys;
    const uint64_t low = versions_[family][key].written;
    std::string value;
    const rocksdb::Status status = store_->Get(rocksdb::ReadOptions(), handles_[family], NameOf(key), &value);
    EXPECT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
    ExpectVersion(family, key, status.ok() ? &value : nullptr, low, versions_[family][key].begun);
  }

  // Returns the versions written so far.
  std::vector<Lows> Written() const {
    std::vector<Lows> lows(kFamilies, Lows(kKeys));
    for (std::size_t family = 0; family < kFamilies; ++family) {
      for (std::size_t key = 0; key < kKeys; ++key) {
        lows[family][key] = versions_[family][key].written;
      }
    }
    return lows;
  }

  // Expects each key's version to be from `lows` to what was begun when the store was read.
  void ExpectAll(FlsmStore* store, const Handles& handles, const std::vector<Lows>& lows,
                 const rocksdb::Snapshot* snapshot) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    for (std::size_t family = 0; family < kFamilies; ++family) {
      const std::unique_ptr<rocksdb::Iterator> iterator(store->NewIterator(options, handles[family]));
      iterator->SeekToFirst();
      for (std::size_t key = 0; key < kKeys && !HasFailure(); ++key) {
        const bool is_there = iterator->Valid() && iterator->key() == NameOf(key);
        const std::string value = is_there ? iterator->value().ToString() : "";
        ExpectVersion(family, key, is_there ? &value : nullptr, lows[family][key],
                      versions_[family][key].begun);
        if (is_there) {
          iterator->Next();
        }
      }
      EXPECT_FALSE(iterator->Valid());
      EXPECT_TRUE(iterator->status().ok());
    }
  }

  void Scan(Random* random) {
    const std::vector<Lows> lows = Written();
    const rocksdb::Snapshot* snapshot = (*random)() % 2 == 0 ? store_->GetSnapshot() : nullptr;
    ExpectAll(store_.get(), handles_, lows, snapshot);
    if (snapshot != nullptr) {
      store_->ReleaseSnapshot(snapshot);
    }
  }

  void ChangePolicy(Random* random) {
    rocksdb::ColumnFamilyHandle* family = handles_[(*random)() % kFamilies];
    const int level = 1 + static_cast<int>((*random)() % 4);
    const int policy = 1 + static_cast<int>((*random)() % 3);
    EXPECT_TRUE(store_->SetPolicy(family, level, policy, static_cast<FlsmTransition>((*random)() % 3)).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

  void CreateAndDrop() {
    rocksdb::ColumnFamilyHandle* made = nullptr;
    const rocksdb::Status status =
        store_->CreateColumnFamily(SmallOptions(), "short-lived", Layout({2}), &made);
    ASSERT_TRUE(status.ok()) << status.ToString();
    for (std::size_t key = 0; key < 200; ++key) {
      EXPECT_TRUE(store_->Put(rocksdb::WriteOptions(), made, NameOf(key), ValueOf(0, key, key)).ok());
    }
    ASSERT_TRUE(store_->DropColumnFamily(made).ok());
    ASSERT_TRUE(store_->DestroyColumnFamilyHandle(made).ok());
  }

  // Takes a checkpoint, and expects that it is a store with all that was written before.
  void TakeCheckpoint() {
    const std::string copy = directory_ + "-copy";
    std::filesystem::remove_all(copy);
    const std::vector<Lows> lows = Written();
    rocksdb::Checkpoint* raw = nullptr;
    ASSERT_TRUE(rocksdb::Checkpoint::Create(store_.get(), &raw).ok());
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
    rocksdb::Status status = checkpoint->CreateCheckpoint(copy);
    ASSERT_TRUE(status.ok()) << status.ToString();
    std::vector<FlsmFamily> families = AsTheyAre();
    std::vector<std::string> names;
    ASSERT_TRUE(rocksdb::DB::ListColumnFamilies(SmallOptions(), copy, &names).ok());
    if (names.size() > families.size()) {
      families.push_back({"short-lived", SmallOptions(), {}});
    }
    std::unique_ptr<FlsmStore> store;
    Handles handles;
    status = FlsmStore::Open(SmallOptions(), copy, families, &handles, &store);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ExpectAll(store.get(), handles, lows, nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

  std::array<std::array<Versions, kKeys>, kFamilies> versions_;
  std::atomic<uint64_t> steps_{0};
};

TEST_F(FlsmMixTest, EveryValueIsAsExpected) { RunMix(Seconds(2)); }

using SlowFlsmMixTest = FlsmMixTest;
TEST_F(SlowFlsmMixTest, EveryValueIsAsExpected) { RunMix(Seconds(60)); }

}  // namespace
}  // namespace rocktune
