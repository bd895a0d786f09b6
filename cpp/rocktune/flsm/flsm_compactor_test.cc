#include "rocktune/flsm/flsm_compactor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// Returns an empty tree of T = 4 whose level 1 has room for one flush.
FlsmShape Empty() {
  FlsmShape shape;
  shape.size_ratio = 4;
  shape.level1_bytes = 64 << 10;
  shape.slots = 6;
  shape.max_level0_files = 0;
  shape.levels.resize(3);
  return shape;
}

// Tables written while a level fills for the first time must get filters for a tree with that level.
TEST(FlsmCompactorTest, ReportsADeeperTreeBeforeItsFirstTask) {
  std::string directory = testing::TempDir() + "flsm-XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compaction_style = rocksdb::kCompactionStyleNone;
  options.num_levels = Empty().PhysicalLevels();
  options.compression = rocksdb::kNoCompression;
  const auto guard = std::make_shared<ManifestGuard>();
  const auto commits = std::make_shared<FlsmCommits>(guard);
  options.listeners = {guard, commits};
  std::unique_ptr<rocksdb::DB> db;
  ASSERT_TRUE(OpenDatabase(options, directory, &db).ok());
  FlsmRecorder recorder(db->GetEnv(), 0, Empty().slots, std::make_shared<std::atomic<int>>(0));
  std::mutex mutex;
  std::vector<FlsmShape> shapes;
  FlsmWorkers workers(db.get());
  const auto compactor = std::make_shared<FlsmCompactor>(
      db.get(), db->DefaultColumnFamily(), commits, &recorder, &workers, Empty(), 0, 0,
      [&mutex, &shapes](const FlsmShape& shape, uint64_t number) {
        const std::lock_guard<std::mutex> lock(mutex);
        EXPECT_GT(number, 0u);
        shapes.push_back(shape);
        return rocksdb::Status::OK();
      });
  workers.Add(compactor, 2);
  for (int flush = 0; flush < 12; ++flush) {
    for (int key = 0; key < 64; ++key) {
      const std::string name = "key" + std::to_string((key * 12) + flush);
      ASSERT_TRUE(db->Put(rocksdb::WriteOptions(), name, std::string(1000, 'v')).ok());
    }
    ASSERT_TRUE(db->Flush(rocksdb::FlushOptions()).ok());
    compactor->OnMissedFlushes();
    ASSERT_TRUE(compactor->WaitUntilSettled().ok());
  }
  workers.Stop();
  ASSERT_GE(compactor->Shape().LevelsInUse(), 2) << ToText(compactor->Shape());
  int in_use = 1;
  for (const FlsmShape& shape : shapes) {
    if (shape.LevelsInUse() > in_use) {
      in_use = shape.LevelsInUse();
      EXPECT_EQ(shape.level(in_use).runs.front().use, RunUse::kArriving) << ToText(shape);
    }
  }
  EXPECT_EQ(in_use, compactor->Shape().LevelsInUse());
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace rocktune
