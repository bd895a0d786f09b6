// Merges in pieces: how far each one goes, and what an interrupted merge leaves.

#include <gtest/gtest.h>
#include <rocksdb/listener.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "rocktune/flsm/fake_flsm_store.h"

namespace rocktune {
namespace {

constexpr uint64_t kMaxBytes = 256 << 10;

// Records what CompactFiles reads.
class Recorded : public rocksdb::EventListener {
 public:
  void OnSubcompactionCompleted(const rocksdb::SubcompactionJobInfo& info) override {
    if (info.output_level > info.base_input_level && info.base_input_level > 0) {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++deep_;
      most_read_ = std::max(most_read_, info.stats.total_input_bytes);
    }
  }
  int deep() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return deep_;
  }
  uint64_t most_read() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return most_read_;
  }

 private:
  std::mutex mutex_;
  int deep_ = 0;
  uint64_t most_read_ = 0;
};

class FlsmPiecesTest : public FlsmStoreTest {
 protected:
  rocksdb::Status OpenInPieces(uint64_t max_bytes) {
    rocksdb::Options options = SmallOptions();
    options.listeners = {recorded_};
    FlsmOptions layout = Layout({2, 1});
    layout.max_merge_bytes = max_bytes;
    store_.reset();
    return FlsmStore::Open(options, layout, directory_, &store_);
  }
  // Returns the shape file without white space.
  std::string ShapeText() const {
    std::ifstream file(directory_ + "/FLSM");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    std::erase_if(text, [](char each) { return each == ' ' || each == '\n'; });
    return text;
  }
  // Writes `count` keys in an order in which every flush covers the whole key range.
  void PutScattered(int count, const std::string& value) {
    for (int number = 0; number < count; ++number) {
      const int key = static_cast<int>((static_cast<int64_t>(number) * 7919) % count);
      ASSERT_TRUE(store_->Put(rocksdb::WriteOptions(), "key" + std::to_string(key), value).ok());
    }
    ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  }
  void ExpectAll(int count, const std::string& value, const rocksdb::Snapshot* snapshot = nullptr) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    std::string found;
    for (int key = 0; key < count; ++key) {
      ASSERT_TRUE(store_->Get(options, "key" + std::to_string(key), &found).ok()) << key;
      ASSERT_EQ(found, value) << key;
    }
  }
  const std::shared_ptr<Recorded> recorded_ = std::make_shared<Recorded>();
};

// A table of the deepest run is 64 KiB, so a piece that must begin with a file reads little more than the
// limit.
TEST_F(FlsmPiecesTest, NoMergeIsMuchLargerThanStated) {
  ASSERT_TRUE(OpenInPieces(kMaxBytes).ok());
  const std::string old(500, 'a');
  const std::string value(500, 'b');
  PutScattered(8000, old);
  const rocksdb::Snapshot* snapshot = store_->GetSnapshot();
  PutScattered(8000, value);
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  ASSERT_TRUE(store_->SetPolicy(2, 1, FlsmTransition::kGreedy).ok());
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  EXPECT_GT(recorded_->deep(), 10);
  EXPECT_LT(recorded_->most_read(), 3 * kMaxBytes);
  ExpectAll(8000, value);
  ExpectAll(8000, old, snapshot);
  store_->ReleaseSnapshot(snapshot);
  ExpectShapeMatchesRocksDb();
}

// Closing cancels the merge that runs; what its pieces have done stays, and the rest is pushed after Open.
TEST_F(FlsmPiecesTest, GoesOnAfterARestart) {
  ASSERT_TRUE(OpenInPieces(kMaxBytes).ok());
  const std::string value(500, 'b');
  PutScattered(8000, std::string(500, 'a'));
  PutScattered(8000, value);
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  ASSERT_TRUE(store_->SetPolicy(2, 1, FlsmTransition::kGreedy).ok());
  for (int restart = 0; restart < 5; ++restart) {
    const int before = recorded_->deep();
    const auto goes_on = [this, before] {
      return recorded_->deep() < before + 2 && !store_->Shape().level(2).runs.empty();
    };
    for (int tries = 0; tries < 5000 && goes_on(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (const std::string text = ShapeText(); store_->Shape().level(2).in_pieces) {
      EXPECT_NE(text.find("\"push\":true"), std::string::npos) << "a kill would leave the rest: " << text;
    }
    ASSERT_TRUE(OpenInPieces(kMaxBytes).ok());
    EXPECT_EQ(Violation(store_->Shape()), "");
    ExpectAll(8000, value);
  }
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  EXPECT_FALSE(store_->Shape().level(2).push);
  EXPECT_TRUE(store_->Shape().level(2).runs.empty()) << ToText(store_->Shape());
  ExpectAll(8000, value);
  ExpectShapeMatchesRocksDb();
}

}  // namespace
}  // namespace rocktune
