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
#include <vector>

#include "rocktune/flsm/fake_flsm_store.h"
#include "rocktune/flsm/fake_flsm_tree.h"
#include "rocktune/flsm/flsm_task.h"

namespace rocktune {
namespace {

constexpr uint64_t kMaxBytes = 256 << 10;

// Records what CompactFiles reads for pushes of level 2 and deeper. A table of level 1 overlaps most of
// level 2.
class Recorded : public rocksdb::EventListener {
 public:
  void OnSubcompactionCompleted(const rocksdb::SubcompactionJobInfo& info) override {
    if (info.output_level > info.base_input_level && info.base_input_level > kLastSlotOfLevel1) {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++deep_;
      // RocksDB does not fill total_input_bytes for subcompactions.
      most_read_ =
          std::max(most_read_, info.stats.total_input_raw_key_bytes + info.stats.total_input_raw_value_bytes);
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
  static constexpr int kLastSlotOfLevel1 = 12;  // with T = 4
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
  // Writes `count` keys in an order in which every flush covers the whole key range. No compaction is due
  // after a flush, so that levels are pushed by themselves, and after the call.
  void PutScattered(int count, const std::string& value) {
    for (int number = 0; number < count; ++number) {
      const int key = static_cast<int>((static_cast<int64_t>(number) * 7919) % count);
      ASSERT_TRUE(store_->Put(rocksdb::WriteOptions(), "key" + std::to_string(key), value).ok());
      if (number % 100 == 99) {
        ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
        ASSERT_TRUE(store_->WaitUntilSettled().ok());
      }
    }
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
  ASSERT_TRUE(store_->SetPolicy(2, 1, FlsmTransition::kGreedy).ok());
  ASSERT_TRUE(store_->WaitUntilSettled().ok());
  EXPECT_GT(recorded_->deep(), 10);
  EXPECT_GT(recorded_->most_read(), kMaxBytes / 2);
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

// The push of level 1 of a tree with tables of 10 bytes.
FlsmTask PushOf(const FlsmShape& shape) { return DueTasks(shape).back(); }

FlsmShape TreeWithTables(const std::vector<FlsmLevel>& levels) {
  FlsmShape shape = Tree(levels);
  shape.file_bytes = 10;
  return shape;
}

TEST(FlsmPieceBytesTest, OverlapIsHalfATableForEachStepFromRunToRun) {
  // The merged run ends within one of its tables, and the output within one of its own: half of each.
  const FlsmShape leveling = TreeWithTables({Level(1, 1, {100}), Level(2, 1, {500})});
  ASSERT_EQ(Names(DueTasks(leveling)), "push 1 [30 60 > 60]");
  EXPECT_DOUBLE_EQ(OverlapOfPieces(leveling, PushOf(leveling)), 5 + 5);
  // Of four equal runs the second goes half a table further than the first, and so on: 0, 5, 10 and 15 bytes.
  const FlsmShape tiering = TreeWithTables({Level(1, 4, {25, 25, 25, 25}), Level(2, 4, {})});
  EXPECT_DOUBLE_EQ(OverlapOfPieces(tiering, PushOf(tiering)), 5 + 5 + 10 + 15);
  // The tables of a run four times as large are a quarter as wide: 5 bytes of the second run are 20 of the
  // third.
  const FlsmShape mixed = TreeWithTables({Level(1, 2, {50, 50}), Level(2, 1, {200})});
  EXPECT_DOUBLE_EQ(OverlapOfPieces(mixed, PushOf(mixed)), 5 + 5 + 20 + 5);
}

TEST(FlsmPieceBytesTest, PiecesAreAHundredOverlapsUnlessTheOptionSaysOtherwise) {
  FlsmShape shape = TreeWithTables({Level(1, 1, {1000}), Level(2, 1, {5000})});
  shape.level1_bytes = 1000;
  const FlsmTask task = PushOf(shape);
  ASSERT_EQ(task.bytes, 6000u);
  EXPECT_EQ(MaxPieceBytes(shape, task, 0), 1000u);
  EXPECT_TRUE(IsInPieces(task, MaxPieceBytes(shape, task, 0)));
  EXPECT_EQ(MaxPieceBytes(shape, task, 70), 70u);
  EXPECT_FALSE(IsInPieces(task, MaxPieceBytes(shape, task, UINT64_MAX)));
  shape.file_bytes = 100;  // pieces would be larger than the task
  EXPECT_FALSE(IsInPieces(task, MaxPieceBytes(shape, task, 0)));
  shape.file_bytes = UINT64_MAX;
  EXPECT_FALSE(IsInPieces(task, MaxPieceBytes(shape, task, 0)));
  shape.file_bytes = 0;
  EXPECT_FALSE(IsInPieces(task, MaxPieceBytes(shape, task, 0)));
}

// With tables of 16 KiB a push of level 3 into level 4 reads up to 256 + 1,024 of them.
TEST_F(FlsmPiecesTest, ByDefaultLargeMergesAreCutAtAHundredTables) {
  constexpr uint64_t kTableBytes = 16 << 10;
  rocksdb::Options options = SmallOptions();
  options.target_file_size_base = kTableBytes;
  options.listeners = {recorded_};
  ASSERT_TRUE(FlsmStore::Open(options, Layout({1}), directory_, &store_).ok());
  const std::string value(500, 'v');
  PutScattered(20'000, value);
  EXPECT_GT(store_->Shape().level(4).bytes(), 200 * kTableBytes) << ToText(store_->Shape());
  EXPECT_GT(recorded_->most_read(), 80 * kTableBytes);
  EXPECT_LT(recorded_->most_read(), 120 * kTableBytes);
  ExpectAll(20'000, value);
  ExpectShapeMatchesRocksDb();
}

}  // namespace
}  // namespace rocktune
