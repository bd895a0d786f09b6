#include "rocktune/flsm_store.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rocktune/flsm/fake_flsm_store.h"
#include "rocktune/flsm/flsm_filters.h"
#include "rocktune/flsm/flsm_runs.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/util/fake_failing_disk.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

TEST_F(FlsmStoreTest, HoldsWhatIsPutInRunsOfItsPolicies) {
  ASSERT_TRUE(Open(Layout({4, 2, 1})).ok());
  std::mt19937 random(1);
  for (int key = 0; key < 4000; ++key) {
    Put(static_cast<int>(random() % 100'000), 1, std::string(1000, 'v'));
  }
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  store_->WaitUntilSettled();
  EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
  const FlsmShape shape = store_->Shape();
  EXPECT_EQ(Broken(shape), "");
  EXPECT_LE(shape.level(1).runs.size(), 5) << ToText(shape);
  uint64_t bytes = 0;
  for (const FlsmLevel& level : shape.levels) {
    bytes += level.bytes();
  }
  EXPECT_GT(bytes, 3'500'000) << ToText(shape);
}

TEST_F(FlsmStoreTest, WithFilesNoCompactionIsLarge) {
  FlsmOptions layout = Layout({2});
  layout.granularity = FlsmGranularity::kFiles;
  ASSERT_TRUE(Open(layout).ok());
  std::mt19937 random(1);
  for (int key = 0; key < 12'000; ++key) {
    Put(static_cast<int>(random() % 100'000), 1, std::string(1000, 'v'));
  }
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  store_->WaitUntilSettled();
  EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
  const FlsmShape shape = store_->Shape();
  EXPECT_EQ(Broken(shape), "");
  ASSERT_GE(shape.LevelsInUse(), 3) << ToText(shape);
  EXPECT_GT(shape.level(2).bytes(), shape.Capacity(2) / 2) << "levels stay full: " << ToText(shape);
  for (int number = 1; number < shape.LevelsInUse(); ++number) {
    EXPECT_LE(shape.level(number).bytes(), shape.Capacity(number)) << ToText(shape);
    // Level 1 takes a run of its own in whenever others are on their way out, however long that takes.
    EXPECT_TRUE(number == 1 || shape.level(number).runs.size() <= 2) << ToText(shape);
  }
  EXPECT_TRUE(store_->SetPolicy(2, 1, FlsmTransition::kLazy).IsInvalidArgument());
}

TEST_F(FlsmStoreTest, KeepsShapeAndPoliciesWhenItIsOpenedAgain) {
  ASSERT_TRUE(Open(Layout({4, 2})).ok());
  Put(0, 1000, std::string(1000, 'v'));
  ASSERT_TRUE(store_->SetPolicy(3, 4, FlsmTransition::kFlexible).ok());
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  store_->WaitUntilSettled();
  const FlsmShape before = store_->Shape();
  Reopen();
  store_->WaitUntilSettled();
  const FlsmShape after = store_->Shape();
  EXPECT_EQ(ToText(after), ToText(before));
  EXPECT_EQ(after.level(3).policy, 4);
  EXPECT_EQ(after.size_ratio, 4) << "the store's, not the default";
  FlsmShape read;
  ASSERT_TRUE(ReadShape(directory_, &read).ok());
  EXPECT_EQ(ToText(read), ToText(after)) << "of a store that is open";
}

TEST_F(FlsmStoreTest, RefusesWhatIsNoneOfItsStoresAndWhatMakesNoSense) {
  EXPECT_TRUE(Open(Layout({})).IsInvalidArgument());
  EXPECT_TRUE(Open(Layout({5})).IsInvalidArgument());
  std::unique_ptr<rocksdb::DB> foreign;
  ASSERT_TRUE(OpenDatabase(Small(), directory_, &foreign).ok());
  foreign.reset();
  const rocksdb::Status status = Open(Layout({1}));
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("no FLSM store"), std::string::npos) << status.ToString();
}

TEST_F(FlsmStoreTest, SaysWhenItsShapeCannotBeRead) {
  ASSERT_TRUE(Open(Layout({1})).ok());
  store_.reset();
  for (const char* text : {"", "{", "[]", "{\"format\":2}", "{\"format\":1}",
                           "{\"format\":1,\"size_ratio\":1,\"level1_bytes\":1,\"slots\":9,\"levels\":[]}"}) {
    std::ofstream(directory_ + "/FLSM") << text;
    EXPECT_TRUE(Open(Layout({1})).IsCorruption()) << text;
  }
}

TEST_F(FlsmStoreTest, TellsOfItsCompactionsAsRocksDbDoes) {
  ASSERT_TRUE(Open(Layout({4, 2, 1})).ok());
  Put(0, 3000, std::string(1000, 'v'));
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  store_->WaitUntilSettled();
  for (const std::string& property :
       {rocksdb::DB::Properties::kCompactionPending, rocksdb::DB::Properties::kNumRunningCompactions,
        rocksdb::DB::Properties::kEstimatePendingCompactionBytes}) {
    uint64_t value = 1;
    EXPECT_TRUE(store_->GetIntProperty(property, &value));
    EXPECT_EQ(value, 0) << property;
  }
  ASSERT_TRUE(store_->SetPolicy(1, 1, FlsmTransition::kGreedy).ok());
  ASSERT_TRUE(store_->SetPolicy(2, 1, FlsmTransition::kGreedy).ok());
  uint64_t due = 1;
  store_->WaitUntilSettled();
  ASSERT_TRUE(store_->GetIntProperty(rocksdb::DB::Properties::kCompactionPending, &due));
  EXPECT_EQ(due, 0);
  EXPECT_EQ(Broken(store_->Shape()), "");
}

TEST_F(FlsmStoreTest, CountsWhatItIsAskedForAndWhatCompactionsCost) {
  FlsmOptions layout = Layout({1});
  layout.sample_every = 1;
  ASSERT_TRUE(Open(layout).ok());
  for (int round = 0; round < 10; ++round) {
    Put(0, 400, std::string(1000, 'v'));
    ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
    store_->WaitUntilSettled();
  }
  std::string value;
  EXPECT_TRUE(store_->Get(rocksdb::ReadOptions(), "key1", &value).ok());
  EXPECT_TRUE(store_->Get(rocksdb::ReadOptions(), "nowhere", &value).IsNotFound());
  delete store_->NewIterator(rocksdb::ReadOptions());
  const FlsmStatistics statistics = store_->Statistics();
  EXPECT_EQ(statistics.entries_written, 4000u);
  EXPECT_EQ(statistics.lookups, 2u);
  EXPECT_EQ(statistics.found, 1u);
  EXPECT_EQ(statistics.iterators, 1u);
  ASSERT_EQ(statistics.levels.size(), 7u);
  FlsmLevelStatistics all;
  for (const FlsmLevelStatistics& level : statistics.levels) {
    all.found += level.found;
    all.scanned += level.scanned;
    all.false_positive_read_ns += level.false_positive_read_ns;
    all.read_ns += level.read_ns;
    all.passed += level.passed;
    all.compaction_read_bytes += level.compaction_read_bytes;
    all.compaction_written_bytes += level.compaction_written_bytes;
  }
  EXPECT_EQ(all.found, 1u);
  EXPECT_LT(all.false_positive_read_ns, all.read_ns) << "of two lookups one finds its key";
  const FlsmShape shape = store_->Shape();
  std::size_t runs = shape.level0_files;
  for (const FlsmLevel& level : shape.levels) {
    runs += level.runs.size();
  }
  EXPECT_EQ(all.scanned, runs) << "of the one iterator";
  const FlsmServed& quiet = statistics.quiet;  // what came after the store had settled
  EXPECT_GE(quiet.operations, 3u);
  EXPECT_EQ(quiet.operations + statistics.merging.operations, 4000u + 2u + 1u);
  EXPECT_EQ(quiet.passed, all.passed);
  EXPECT_EQ(quiet.read_ns, all.read_ns);
  EXPECT_EQ(quiet.scanned, runs);
  EXPECT_EQ(quiet.busy_ns + statistics.merging.busy_ns, statistics.busy_ns);
  EXPECT_GT(all.compaction_read_bytes, all.compaction_written_bytes + (1u << 20))
      << "ten times the same keys, of which two levels hold at most a few rounds";
  EXPECT_EQ(statistics.levels[0].compactions, 0u) << "nothing is compacted into RocksDB's level 0";
  const FlsmLevelStatistics& first = statistics.levels[1];
  EXPECT_GE(first.compactions, 10u);
  EXPECT_GE(first.compaction_written_bytes, 400u * 1000u);
  EXPECT_GT(first.compaction_us, 0u);
}

TEST_F(FlsmStoreTest, TellsHowLongItsCallersWereBusy) {
  FlsmOptions layout = Layout({1});
  layout.sample_every = 4;
  ASSERT_TRUE(Open(layout).ok());
  const auto begun = std::chrono::steady_clock::now();
  const auto elapsed_ns = [begun] {
    return static_cast<uint64_t>((std::chrono::steady_clock::now() - begun) / std::chrono::nanoseconds(1));
  };
  Put(0, 4000, std::string(100, 'v'));
  const uint64_t writing = store_->Statistics().busy_ns;
  EXPECT_GT(writing, 0u);
  EXPECT_LT(writing, 4 * elapsed_ns()) << "of one thread, estimated from one in four";
  std::string value;
  for (int key = 0; key < 4000; ++key) {
    EXPECT_TRUE(store_->Get(rocksdb::ReadOptions(), "key" + std::to_string(key), &value).ok());
  }
  ASSERT_TRUE(store_->Delete(rocksdb::WriteOptions(), "key0").ok());
  EXPECT_GT(store_->Statistics().busy_ns, writing);
  const uint64_t before = store_->Statistics().busy_ns;
  store_->AddBusy(1000);
  EXPECT_EQ(store_->Statistics().busy_ns - before, 1000u);
}

TEST_F(FlsmStoreTest, TellsTimeByItsEnvironment) {
  struct StillEnv : rocksdb::EnvWrapper {
    StillEnv() : EnvWrapper(Env::Default()) {}
    const char* Name() const override { return "StillEnv"; }
    uint64_t NowNanos() override { return 1; }
  } env;
  rocksdb::Options options = Small();
  options.env = &env;
  FlsmOptions layout = Layout({1});
  layout.sample_every = 1;
  ASSERT_TRUE(FlsmStore::Open(options, layout, directory_, &store_).ok());
  Put(0, 100, "value");
  EXPECT_EQ(store_->Statistics().quiet.operations, 100u);
  EXPECT_EQ(store_->Statistics().busy_ns, 0u);
  store_.reset();  // before its environment
}

TEST_F(FlsmStoreTest, ReshapesItselfWhileNothingIsWritten) {
  for (const FlsmGranularity granularity : {FlsmGranularity::kLevels, FlsmGranularity::kFiles}) {
    store_.reset();
    std::filesystem::remove_all(directory_);
    FlsmOptions layout = Layout({4});
    layout.granularity = granularity;
    layout.reshape_bytes_per_s = 1 << 30;
    ASSERT_TRUE(Open(layout).ok());
    std::map<std::string, std::string> model;
    std::mt19937 random(1);
    for (int step = 0; step < 6000; ++step) {
      const std::string key = "key" + std::to_string(random() % 2000);
      model[key] = std::string(500, static_cast<char>('a' + random() % 26));
      ASSERT_TRUE(store_->Put(rocksdb::WriteOptions(), key, model[key]).ok());
    }
    ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
    store_->WaitUntilSettled();
    for (int level = 1; level <= 6; ++level) {
      ASSERT_TRUE(store_->SetPolicy(level, 1).ok());
    }
    const auto runs = [this] {
      std::size_t most = 0;
      for (const FlsmLevel& level : store_->Shape().levels) {
        most = std::max(most, level.runs.size());
      }
      return most;
    };
    while (runs() > 1) {  // by itself, with no write; CTest ends what never does
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(Broken(store_->Shape()), "");
    std::size_t found = 0;
    const std::unique_ptr<rocksdb::Iterator> iterator(store_->NewIterator(rocksdb::ReadOptions()));
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++found) {
      ASSERT_EQ(iterator->value().ToString(), model.at(iterator->key().ToString()));
    }
    EXPECT_EQ(found, model.size());
    for (const auto& [key, expected] : model) {
      std::string value;
      ASSERT_TRUE(store_->Get(rocksdb::ReadOptions(), key, &value).ok());
      ASSERT_EQ(value, expected) << key;
    }
  }
}

TEST_F(FlsmStoreTest, RecordsNothingOfLookupsWhereNobodyAsksForIt) {
  FlsmOptions layout = Layout({1});
  layout.sample_every = 0;
  ASSERT_TRUE(Open(layout).ok());
  Put(0, 1, "value");
  std::string value;
  EXPECT_TRUE(store_->Get(rocksdb::ReadOptions(), "key0", &value).ok());
  delete store_->NewIterator(rocksdb::ReadOptions());
  EXPECT_EQ(store_->Statistics().lookups, 0u);
  EXPECT_EQ(store_->Statistics().iterators, 0u);
  EXPECT_EQ(store_->Statistics().entries_written, 1u);
}

TEST_F(FlsmStoreTest, RefusesPoliciesThatThereAreNot) {
  ASSERT_TRUE(Open(Layout({1})).ok());
  EXPECT_TRUE(store_->SetPolicy(0, 1).IsInvalidArgument());
  EXPECT_TRUE(store_->SetPolicy(7, 1).IsInvalidArgument());
  EXPECT_TRUE(store_->SetPolicy(1, 0).IsInvalidArgument());
  EXPECT_TRUE(store_->SetPolicy(1, 5).IsInvalidArgument());
  EXPECT_TRUE(store_->SetPolicy(6, 4).ok());
}

class FlsmFilteredStoreTest : public FlsmStoreTest, public testing::WithParamInterface<FlsmFilters::Scheme> {
 protected:
  struct Passed {
    uint64_t asked = 0;
    uint64_t passed = 0;
  };

  // Looks for keys that are not there; returns what the filters of each level from the first let pass.
  std::vector<Passed> LookForAbsent(int count) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::PerfContext* context = rocksdb::get_perf_context();
    context->EnablePerLevelPerfContext();
    context->Reset();
    std::string value;
    for (int key = 0; key < count; ++key) {
      EXPECT_TRUE(
          store_->Get(rocksdb::ReadOptions(), "key" + std::to_string(key) + "x", &value).IsNotFound());
    }
    const FlsmShape shape = store_->Shape();
    std::vector<Passed> found(shape.levels.size());
    for (const auto& [physical, counted] : *context->level_to_perf_context) {
      if (physical > 0) {
        Passed& level = found[(physical - 1) / static_cast<uint32_t>(shape.slots)];
        level.passed += counted.bloom_filter_full_positive;
        level.asked += counted.bloom_filter_full_positive + counted.bloom_filter_useful;
      }
    }
    context->DisablePerLevelPerfContext();
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    return found;
  }

  // What the store tells of the same lookups when it looks at each, as it does when the thread does not.
  void ExpectStatisticsOf(const std::vector<Passed>& found, int count) {
    const FlsmStatistics before = store_->Statistics();
    std::string value;
    for (int key = 0; key < count; ++key) {
      store_->Get(rocksdb::ReadOptions(), "key" + std::to_string(key) + "x", &value).PermitUncheckedError();
    }
    EXPECT_EQ(rocksdb::GetPerfLevel(), rocksdb::PerfLevel::kDisable) << "as it was";
    EXPECT_FALSE(rocksdb::get_perf_context()->per_level_perf_context_enabled);
    const FlsmStatistics after = store_->Statistics();
    EXPECT_EQ(after.lookups - before.lookups, static_cast<uint64_t>(count));
    EXPECT_EQ(after.found, before.found);
    for (std::size_t level = 1; level <= found.size(); ++level) {
      const FlsmLevelStatistics& now = after.levels[level];
      EXPECT_EQ(now.passed - before.levels[level].passed, found[level - 1].passed) << "level " << level;
      EXPECT_EQ(now.passed + now.filtered,
                found[level - 1].asked + before.levels[level].passed + before.levels[level].filtered)
          << "level " << level;
      EXPECT_EQ(now.false_positives - before.levels[level].false_positives, found[level - 1].passed);
      EXPECT_EQ(now.read_ns > before.levels[level].read_ns, found[level - 1].asked > 0);
    }
  }
};

TEST_P(FlsmFilteredStoreTest, AbsentKeysPassAsOftenAsTheFormulaSays) {
  constexpr int kKeys = 40'000;
  constexpr uint64_t kEnough = 50;   // keys that pass, to tell a rate from
  FlsmOptions layout = Layout({1});  // one run a level
  layout.filters = {4, GetParam()};
  layout.sample_every = 1;
  ASSERT_TRUE(Open(layout).ok());
  std::mt19937 random(1);
  for (int key = 0; key < kKeys; ++key) {
    Put(static_cast<int>(random() % kKeys), 1, std::string(100, 'v'));
  }
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  store_->WaitUntilSettled();
  const FlsmShape shape = store_->Shape();
  ASSERT_GE(shape.LevelsInUse(), 3) << ToText(shape);
  const std::vector<double> bits = BitsPerKey(layout.filters, shape.size_ratio, shape.LevelsInUse());
  const std::vector<Passed> found = LookForAbsent(kKeys);
  ExpectStatisticsOf(found, kKeys);
  int compared = 0;
  for (std::size_t level = 0; level < bits.size(); ++level) {
    // A small run's filter is rounded up to a cache line.
    if (found[level].passed < kEnough || shape.levels[level].bytes() < Small().write_buffer_size) {
      continue;
    }
    const double rate = static_cast<double>(found[level].passed) / static_cast<double>(found[level].asked);
    EXPECT_NEAR(rate / FalsePositiveRate(bits[level]), 1, 0.35)
        << "level " << level + 1 << " of " << ToText(shape);
    ++compared;
  }
  EXPECT_GE(compared, 1);  // a level may just have been pushed down
}

INSTANTIATE_TEST_SUITE_P(Schemes, FlsmFilteredStoreTest,
                         testing::Values(FlsmFilters::Scheme::kUniform, FlsmFilters::Scheme::kMonkey),
                         [](const testing::TestParamInfo<FlsmFilters::Scheme>& each) {
                           return std::string(each.param == FlsmFilters::Scheme::kUniform ? "Uniform"
                                                                                          : "Monkey");
                         });

TEST_F(FlsmStoreTest, AFullDiskFailsWritesAndNothingElse) {
  const auto disk = std::make_shared<FailingFileSystem>(rocksdb::IOStatus::NoSpace("the disk is full"));
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(disk);
  rocksdb::Options options = Small();
  options.env = env.get();
  ASSERT_TRUE(FlsmStore::Open(options, Layout({4, 2, 1}), directory_, &store_).ok());
  Put(0, 2000, std::string(500, 'v'));
  disk->fails = true;
  rocksdb::Status status;
  for (int key = 2000; key < 4000 && status.ok(); ++key) {
    status = store_->Put(rocksdb::WriteOptions(), "key" + std::to_string(key), std::string(500, 'v'));
  }
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  std::string value;
  for (int key = 0; key < 2000; ++key) {
    ASSERT_TRUE(store_->Get(rocksdb::ReadOptions(), "key" + std::to_string(key), &value).ok()) << key;
  }
  disk->fails = false;
  // RocksDB goes on by itself after a while, or when it is asked to.
  for (int attempt = 0; attempt < 1000 && !status.ok(); ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    status = store_->Resume();
  }
  ASSERT_TRUE(status.ok()) << status.ToString();
  Put(2000, 2000, std::string(500, 'w'));
  ASSERT_TRUE(store_->Flush(rocksdb::FlushOptions()).ok());
  store_->WaitUntilSettled();
  EXPECT_TRUE(store_->LastFailure().ok()) << store_->LastFailure().ToString();
  EXPECT_EQ(Broken(store_->Shape()), "");
  FlsmShape asked = store_->Shape();
  ReadRuns(store_.get(), &asked);
  EXPECT_EQ(ToText(store_->Shape()), ToText(asked)) << "kept by the store, and as RocksDB says";
  for (int key = 0; key < 4000; ++key) {
    ASSERT_TRUE(store_->Get(rocksdb::ReadOptions(), "key" + std::to_string(key), &value).ok()) << key;
  }
  store_.reset();  // before its environment
}

}  // namespace
}  // namespace rocktune
