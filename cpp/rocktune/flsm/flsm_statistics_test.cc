// An FLSM store's statistics, and the rates of its filters.

#include "rocktune/flsm_statistics.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "rocktune/flsm/fake_flsm_store.h"
#include "rocktune/flsm/flsm_filters.h"
#include "rocktune/flsm/flsm_shape.h"

namespace rocktune {
namespace {

TEST_F(FlsmStoreTest, CountsOperationsAndCompactions) {
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
  EXPECT_LT(all.false_positive_read_ns, all.read_ns) << "one of two lookups finds its key";
  const FlsmShape shape = store_->Shape();
  std::size_t runs = shape.level0_files;
  for (const FlsmLevel& level : shape.levels) {
    runs += level.runs.size();
  }
  EXPECT_EQ(all.scanned, runs) << "by one iterator";
  const FlsmServed& quiet = statistics.quiet;  // operations since the store had settled
  EXPECT_GE(quiet.operations, 3u);
  EXPECT_EQ(quiet.operations + statistics.merging.operations, 4000u + 2u + 1u);
  EXPECT_EQ(quiet.passed, all.passed);
  EXPECT_EQ(quiet.read_ns, all.read_ns);
  EXPECT_EQ(quiet.scanned, runs);
  EXPECT_EQ(quiet.busy_ns + statistics.merging.busy_ns, statistics.busy_ns);
  EXPECT_GT(all.compaction_read_bytes, all.compaction_written_bytes + (1u << 20))
      << "ten rounds of the same keys, so that compactions drop most entries";
  EXPECT_EQ(statistics.levels[0].compactions, 0u) << "nothing is compacted into RocksDB's level 0";
  const FlsmLevelStatistics& first = statistics.levels[1];
  EXPECT_GE(first.compactions, 10u);
  EXPECT_GE(first.compaction_written_bytes, 400u * 1000u);
  EXPECT_GT(first.compaction_us, 0u);
}

TEST_F(FlsmStoreTest, EstimatesTheTimeOfItsCallers) {
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
  EXPECT_LT(writing, 4 * elapsed_ns()) << "one thread, estimated from one in four operations";
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

TEST_F(FlsmStoreTest, TakesTheTimeFromItsEnv) {
  struct StillEnv : rocksdb::EnvWrapper {
    StillEnv() : EnvWrapper(Env::Default()) {}
    const char* Name() const override { return "StillEnv"; }
    uint64_t NowNanos() override { return 1; }
  } env;
  rocksdb::Options options = SmallOptions();
  options.env = &env;
  FlsmOptions layout = Layout({1});
  layout.sample_every = 1;
  ASSERT_TRUE(FlsmStore::Open(options, layout, directory_, &store_).ok());
  Put(0, 100, "value");
  EXPECT_EQ(store_->Statistics().quiet.operations, 100u);
  EXPECT_EQ(store_->Statistics().busy_ns, 0u);
  store_.reset();  // before its Env
}

TEST_F(FlsmStoreTest, RecordsNoLookupsWithoutSampling) {
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

class FlsmFilteredStoreTest : public FlsmStoreTest, public testing::WithParamInterface<FlsmFilters::Scheme> {
 protected:
  struct Passed {
    uint64_t asked = 0;
    uint64_t passed = 0;
  };

  // Looks up keys that do not exist. Returns for each level from 1 on how often filters were asked, and let a
  // key pass, by RocksDB's PerfContext.
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

  // Repeats the lookups of LookForAbsent and expects the same figures in the store's statistics.
  void ExpectStatisticsOf(const std::vector<Passed>& found, int count) {
    const FlsmStatistics before = store_->Statistics();
    std::string value;
    for (int key = 0; key < count; ++key) {
      store_->Get(rocksdb::ReadOptions(), "key" + std::to_string(key) + "x", &value).PermitUncheckedError();
    }
    EXPECT_EQ(rocksdb::GetPerfLevel(), rocksdb::PerfLevel::kDisable) << "restored";
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

TEST_P(FlsmFilteredStoreTest, AbsentKeysPassFiltersAtTheExpectedRate) {
  constexpr int kKeys = 40'000;
  constexpr uint64_t kEnough = 50;   // keys that pass a filter, for an estimate of its rate
  FlsmOptions layout = Layout({1});  // one run per level
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
    // A small run's filter has more bits, since RocksDB rounds its size up to a cache line.
    if (found[level].passed < kEnough || shape.levels[level].bytes() < SmallOptions().write_buffer_size) {
      continue;
    }
    const double rate = static_cast<double>(found[level].passed) / static_cast<double>(found[level].asked);
    EXPECT_NEAR(rate / FalsePositiveRate(bits[level]), 1, 0.35)
        << "level " << level + 1 << " of " << ToText(shape);
    ++compared;
  }
  EXPECT_GE(compared, 1);  // others may just have been pushed down
}

INSTANTIATE_TEST_SUITE_P(Schemes, FlsmFilteredStoreTest,
                         testing::Values(FlsmFilters::Scheme::kUniform, FlsmFilters::Scheme::kMonkey),
                         [](const testing::TestParamInfo<FlsmFilters::Scheme>& each) {
                           return std::string(each.param == FlsmFilters::Scheme::kUniform ? "Uniform"
                                                                                          : "Monkey");
                         });

}  // namespace
}  // namespace rocktune
