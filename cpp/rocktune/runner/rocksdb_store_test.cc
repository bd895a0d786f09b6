#include "rocktune/runner/rocksdb_store.h"

#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "rocktune/device/throttled_file_system.h"
#include "rocktune/runner/run_env.h"

namespace rocktune {
namespace {

class RocksDbStoreTest : public testing::Test {
 protected:
  RocksDbStoreTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rocktune-store-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    setup_.directory = (directory_ / "db").string();
    setup_.clock = &clock_;
    setup_.on_background_error = [this](const rocksdb::Status&) { ++background_errors_; };
    clock_.Start();
  }
  ~RocksDbStoreTest() override {
    clock_.Close();
    store_.reset();
    std::filesystem::remove_all(directory_);
  }

  void Open(const OptionMaps& options, const DeviceSpec& device = {}) {
    setup_.options = OptionsFromMaps(options);
    setup_.file_system =
        std::make_shared<ThrottledFileSystemImpl>(rocksdb::FileSystem::Default(), device, &clock_);
    const rocksdb::Status status = RocksDbStore::Open(setup_, &store_);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  // Waits until `condition()` is true. Has no time limit of its own; the test runner's ends a hanging test.
  template <typename Condition>
  static void Await(Condition condition) {
    while (!condition()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  RunClock clock_;
  std::atomic<int> background_errors_{0};
  std::filesystem::path directory_;
  RocksDbStoreSetup setup_;
  std::unique_ptr<RocksDbStore> store_;
};

TEST_F(RocksDbStoreTest, PerformsEveryOperation) {
  Open({});
  ASSERT_TRUE(store_->Put(0, "b", "two").ok());
  ASSERT_TRUE(store_->Put(0, "c", "three").ok());
  ASSERT_TRUE(store_->Put(0, "d", "four").ok());
  rocksdb::PinnableSlice value;
  bool found = false;
  ASSERT_TRUE(store_->Get(0, "c", &value, &found).ok());
  EXPECT_TRUE(found);
  EXPECT_EQ(value.ToString(), "three");
  value.Reset();
  ASSERT_TRUE(store_->Get(0, "a", &value, &found).ok());
  EXPECT_FALSE(found);
  uint64_t read = 0;
  uint64_t bytes = 0;
  ASSERT_TRUE(store_->Scan(0, "a", 2, &read, &bytes).ok());
  EXPECT_EQ(read, 2u);
  EXPECT_EQ(bytes, 10u);  // "b", "two", "c", "three"
  ASSERT_TRUE(store_->Delete(0, "c").ok());
  ASSERT_TRUE(store_->Scan(0, "c", 9, &read, &bytes).ok());
  EXPECT_EQ(read, 3u);
  EXPECT_EQ(bytes, 15u);  // and "d", "four"
  ASSERT_TRUE(store_->DeleteRange(0, "a", "d").ok());
  ASSERT_TRUE(store_->Scan(0, "a", 9, &read, &bytes).ok());
  EXPECT_EQ(read, 4u);
  EXPECT_EQ(bytes, 20u);  // "d", "four" alone
  EXPECT_EQ(background_errors_, 0);
}

// Returns the bytes of a directory's data files.
uint64_t SizeOfData(const std::string& directory) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".sst") || name.ends_with(".blob") || name.ends_with(".log")) {
      bytes += entry.file_size();
    }
  }
  return bytes;
}

TEST_F(RocksDbStoreTest, CountsTheBytesOfItsFiles) {
  const OptionMaps options{
      {{"recycle_log_file_num", "2"}},
      {{"write_buffer_size", "64K"}, {"enable_blob_files", "true"}, {"min_blob_size", "600"}},
      {}};
  Open(options);
  const auto fill = [this](int begin, int end) {
    for (int key = begin; key < end; ++key) {
      ASSERT_TRUE(
          store_->Put(0, "key" + std::to_string(key % 1000), std::string(100 + key % 1000, 'x')).ok());
    }
  };
  fill(0, 3000);
  ASSERT_TRUE(store_->Close().ok());
  EXPECT_EQ(store_->DataBytes(), SizeOfData(setup_.directory));
  // Files of before count, too, until they are deleted.
  Open(options);
  EXPECT_GT(store_->DataBytes(), 0u);
  fill(3000, 4000);
  ASSERT_TRUE(store_->Flush().ok());
  ASSERT_TRUE(store_->db()->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_TRUE(store_->Close().ok());
  EXPECT_EQ(store_->DataBytes(), SizeOfData(setup_.directory));
}

TEST_F(RocksDbStoreTest, ReturnsItsState) {
  Open({{}, {}, {{"block_cache", "1M"}}});
  rocksdb::WriteBatch batch;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(batch.Put("key" + std::to_string(i), std::string(1000, 'x')).ok());
  }
  ASSERT_TRUE(store_->Load(&batch).ok());
  EXPECT_GT(store_->State().memory_bytes.at("memtables"), 100'000u);
  ASSERT_TRUE(store_->Flush().ok());
  rocksdb::PinnableSlice value;
  bool found = false;
  ASSERT_TRUE(store_->Get(0, "key7", &value, &found).ok());
  const StoreState state = store_->State();
  EXPECT_EQ(state.level_files.at(0), 1u);
  EXPECT_GT(state.level_bytes.at(0), 0u);
  EXPECT_GE(state.db_bytes, state.level_bytes.at(0));
  EXPECT_GT(state.memory_bytes.at("block_cache"), 0u);
  EXPECT_GT(state.memory_bytes.at("block_cache_pinned"), 0u);  // `value` pins a block
  EXPECT_GT(state.memory_bytes.at("table_readers"), 0u);
  EXPECT_EQ(state.tickers.at("rocksdb.number.keys.read"), 1u);
  EXPECT_EQ(state.histograms.at("rocksdb.db.get.micros").count, 1u);
  // RocksDB counts a thread that finds nothing to compact as a compaction while it looks.
  Await([this] { return !store_->CompactionRunning(); });
  EXPECT_FALSE(store_->CompactionDue());
  store_->ResetStatistics();
  EXPECT_TRUE(store_->State().tickers.empty());
}

TEST_F(RocksDbStoreTest, CountsCompactionsOfLevel0) {
  Open({{}, {{"level0_file_num_compaction_trigger", "2"}}, {}});
  for (int file = 0; file < 2; ++file) {
    EXPECT_TRUE(store_->Put(0, "a", std::string(1000, 'x')).ok());
    EXPECT_TRUE(store_->Put(0, "b", std::string(1000, 'y')).ok());
    EXPECT_TRUE(store_->Flush().ok());
  }
  Await([this] { return store_->State().level0_compactions_ns.count() == 1; });
  EXPECT_GT(store_->State().level0_compactions_ns.sum(), 0u);
  store_->ResetStatistics();
  EXPECT_EQ(store_->State().level0_compactions_ns.count(), 0u);
}

TEST_F(RocksDbStoreTest, KeepsFlushedEntries) {
  setup_.wal = false;
  Open({});
  rocksdb::WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "one").ok());
  ASSERT_TRUE(store_->Load(&batch).ok());
  ASSERT_TRUE(store_->Flush().ok());
  ASSERT_TRUE(store_->Close().ok());
  ASSERT_TRUE(store_->Close().ok());
  store_.reset();
  Open({});
  rocksdb::PinnableSlice value;
  bool found = false;
  ASSERT_TRUE(store_->Get(0, "a", &value, &found).ok());
  EXPECT_TRUE(found);
}

TEST_F(RocksDbStoreTest, ReadsBackTheOptionsInUse) {
  // RocksDB raises a write buffer below 64 KiB.
  Open({{}, {{"write_buffer_size", "1024"}, {"num_levels", "4"}}, {{"block_cache", "2M"}}});
  const OptionMaps read = store_->ReadBackOptions();
  EXPECT_EQ(read.cf.at("write_buffer_size"), "65536");
  EXPECT_EQ(read.cf.at("num_levels"), "4");
  EXPECT_EQ(read.table.at("block_cache"), "2097152");
  const rocksdb::Options again = OptionsFromMaps(read);
  EXPECT_EQ(again.num_levels, 4);
}

TEST_F(RocksDbStoreTest, WritesOnlyIntoItsDirectory) {
  const std::filesystem::path elsewhere = directory_ / "elsewhere";
  Open({{{"wal_dir", (elsewhere / "wal").string()}, {"db_log_dir", (elsewhere / "log").string()}}, {}, {}});
  ASSERT_TRUE(store_->Put(0, "a", "one").ok());
  EXPECT_FALSE(std::filesystem::exists(elsewhere));
}

TEST_F(RocksDbStoreTest, ReportsTheWriteCondition) {
  // A flush takes the device a day, so that writes stop at two full memtables.
  setup_.wal = false;
  Open({{{"max_background_jobs", "2"}},
        {{"write_buffer_size", "65536"}, {"max_write_buffer_number", "2"}},
        {}},
       {.name = "slow", .bandwidth_bytes_s = 1});
  std::thread writer([this] {
    for (int i = 0; i < 1000; ++i) {
      store_->Put(0, "key" + std::to_string(i), std::string(1000, 'x')).PermitUncheckedError();
    }
  });
  Await([this] { return store_->CurrentWriteCondition() == WriteCondition::kStopped; });
  clock_.Close();  // ends the device's delays
  writer.join();
  ASSERT_TRUE(store_->Flush().ok());
  EXPECT_EQ(store_->CurrentWriteCondition(), WriteCondition::kNormal);
}

TEST_F(RocksDbStoreTest, ReportsBackgroundErrors) {
  setup_.wal = false;
  Open({{}, {{"write_buffer_size", "65536"}}, {}}, {.name = "small", .capacity_bytes = 1000});
  for (int i = 0; i < 1000 && background_errors_ == 0; ++i) {
    store_->Put(0, "key" + std::to_string(i), std::string(1000, 'x')).PermitUncheckedError();
  }
  Await([this] { return background_errors_ > 0; });
}

TEST(RunEnvTest, StopsWithTheRun) {
  RunClock clock;
  const std::unique_ptr<rocksdb::Env> env = NewRunEnv(rocksdb::FileSystem::Default(), &clock);
  const uint64_t nanos = env->NowNanos();
  EXPECT_EQ(env->GetSystemClock()->NowNanos(), nanos);
  EXPECT_EQ(env->NowMicros(), nanos / 1000);
  EXPECT_EQ(env->GetFileSystem().get(), rocksdb::FileSystem::Default().get());
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(env->NowNanos(), nanos);
  clock.Start();
  clock.SleepUntil(1'000'000);
  clock.Stop();
  EXPECT_EQ(env->NowNanos(), nanos + static_cast<uint64_t>(clock.Now()));
}

TEST(RunEnvTest, SleepsInRunTime) {
  RunClock clock;
  const std::unique_ptr<rocksdb::Env> env = NewRunEnv(rocksdb::FileSystem::Default(), &clock);
  std::atomic<bool> awake{false};
  std::thread sleeper([&] {
    env->GetSystemClock()->SleepForMicroseconds(1000);
    awake = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(awake);
  clock.Start();
  sleeper.join();
  EXPECT_GE(clock.Now(), 1'000'000);
  clock.Close();
  env->SleepForMicroseconds(1);  // returns although the clock is stopped
}

TEST_F(RocksDbStoreTest, FamiliesHaveTheirOwnDataAndOptions) {
  const OptionMaps options{.db = {},
                           .cf = {{"write_buffer_size", "1000000"}},
                           .table = {{"block_cache", "3000000"}},
                           .families = {{"large", {{{"write_buffer_size", "2000000"}}, {}}},
                                        {"own", {{}, {{"block_cache", "5000000"}}}}}};
  setup_.families = FamiliesFromMaps(options, {"large", "own", "default"});
  Open({});
  ASSERT_TRUE(store_->Put(0, "a", "large's").ok());
  ASSERT_TRUE(store_->Put(2, "a", "default's").ok());
  rocksdb::WriteBatch batch;
  ASSERT_TRUE(store_->AddTo(&batch, 1, "a", "own's").ok());
  ASSERT_TRUE(store_->Load(&batch).ok());
  ASSERT_TRUE(store_->Flush().ok());
  for (const auto& [family, expected] : {std::pair(0, "large's"), {1, "own's"}, {2, "default's"}}) {
    rocksdb::PinnableSlice value;
    bool found = false;
    ASSERT_TRUE(store_->Get(static_cast<std::size_t>(family), "a", &value, &found).ok());
    EXPECT_EQ(value.ToString(), expected);
  }
  ASSERT_TRUE(store_->Delete(0, "a").ok());
  uint64_t read = 0, bytes = 0;
  ASSERT_TRUE(store_->Scan(0, "a", 9, &read, &bytes).ok());
  EXPECT_EQ(read, 0U);
  const StoreState state = store_->State();
  ASSERT_EQ(state.families.size(), 3U);
  EXPECT_EQ(state.families[1].level_files[0], 1U);
  EXPECT_EQ(state.level_files[0], 3U);
  EXPECT_GT(state.memory_bytes.at("block_cache"), 0U);
  const OptionMaps read_back = store_->ReadBackOptions();
  EXPECT_EQ(read_back.families.at("large").cf.at("write_buffer_size"), "2000000");
  EXPECT_EQ(read_back.families.at("own").cf.at("write_buffer_size"), "1000000");
  const auto cache_of = [this](std::size_t family) {
    const rocksdb::Options opened = store_->db()->GetOptions(store_->families()[family]);
    return opened.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_cache;
  };
  EXPECT_EQ(cache_of(0), cache_of(2));
  EXPECT_EQ(cache_of(0)->GetCapacity(), 3'000'000U);
  EXPECT_EQ(cache_of(1)->GetCapacity(), 5'000'000U);
}

}  // namespace
}  // namespace rocktune
