#include "rocktune/runner/block_cache.h"

#include <gtest/gtest.h>
#include <rocksdb/table.h>

#include <memory>
#include <string>

#include "rocktune/runner/rocksdb_options.h"
#include "rocktune/runner/run_error.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

std::string ReadBack(const std::string& text) { return BlockCacheText(*MakeBlockCache(text)); }

void ExpectRefused(const std::string& text, const std::string& problem) {
  try {
    MakeBlockCache(text);
    ADD_FAILURE() << text << " was accepted";
  } catch (const RunError& error) {
    EXPECT_EQ(error.failure(), RunFailure::kInvalid);
    EXPECT_NE(std::string(error.what()).find(problem), std::string::npos) << error.what();
  }
}

TEST(BlockCacheTest, ASizeMakesAnLruCache) {
  const std::shared_ptr<rocksdb::Cache> cache = MakeBlockCache("3M");
  EXPECT_EQ(cache->GetCapacity(), 3u << 20);
  EXPECT_STREQ(cache->Name(), "LRUCache");
  EXPECT_EQ(BlockCacheText(*cache), "3145728");
}

TEST(BlockCacheTest, AListMakesAnLruCacheWithItsSettings) {
  EXPECT_EQ(ReadBack("capacity=64M;num_shard_bits=2"), "capacity=67108864;num_shard_bits=2");
  EXPECT_EQ(ReadBack("{capacity=64M;strict_capacity_limit=true;}"),
            "capacity=67108864;strict_capacity_limit=true");
  EXPECT_EQ(ReadBack("capacity=64M;high_pri_pool_ratio=0.25"), "capacity=67108864;high_pri_pool_ratio=0.250");
}

TEST(BlockCacheTest, TextOmitsDefaultSettings) {
  // RocksDB's default for 64 MiB: at most 64 shards of at least 512 KiB.
  EXPECT_EQ(ReadBack("capacity=64M;num_shard_bits=6"), "67108864");
  EXPECT_EQ(ReadBack("capacity=64M;num_shard_bits=-1"), "67108864");
}

TEST(BlockCacheTest, TextMakesTheSameCache) {
  for (const std::string text : {"0", "64M", "capacity=1G;num_shard_bits=0;strict_capacity_limit=true"}) {
    EXPECT_TRUE(SameBlockCache(text, ReadBack(text))) << text;
  }
  EXPECT_FALSE(SameBlockCache("64M", "65M"));
  EXPECT_FALSE(SameBlockCache("64M", "capacity=64M;num_shard_bits=1"));
}

TEST(BlockCacheTest, NullLeavesTheCacheToRocksDb) {
  EXPECT_EQ(MakeBlockCache("nullptr"), nullptr);
  EXPECT_EQ(MakeBlockCache("null"), nullptr);
}

TEST(BlockCacheTest, RefusesMalformedAndMisreadText) {
  ExpectRefused("0x10", "not a number of bytes");
  ExpectRefused("-1", "not a number of bytes");
  ExpectRefused("1GiB", "not a number of bytes");
  ExpectRefused("capacity=many", "not a number of bytes");
  ExpectRefused("num_shard_bits=4", "no capacity");
  ExpectRefused("capacity=64M;num_shard_bits=0x4", "num_shard_bits");
  ExpectRefused("capacity=64M;num_shard_bits=40", "refuses");
  ExpectRefused("capacity=64M;high_pri_pool_ratio=2", "refuses");
  ExpectRefused("capacity=64M;colour=red", "refuses");
  ExpectRefused("my_cache://x", "only its own application has");
  ExpectRefused("kind=clock;capacity=64M", "unknown kind of cache 'clock'");
}

TEST(BlockCacheTest, HyperClockCachesKeepTheirKind) {
  const rocksdb::Options defaults = OptionsFromMaps({});
  const auto* table = defaults.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  const std::string text = BlockCacheText(*table->block_cache);
  if (NewHyperClockCache(1 << 20, -1) == nullptr) {
    EXPECT_EQ(text, "capacity=8388608;high_pri_pool_ratio=0.000");
    ExpectRefused("kind=hyper_clock;capacity=1M", "no hyper_clock cache");
  } else if (std::string(table->block_cache->Name()) != "LRUCache") {
    EXPECT_EQ(text, "kind=hyper_clock;capacity=33554432");
    const std::shared_ptr<rocksdb::Cache> smaller = MakeBlockCache("kind=hyper_clock;capacity=1M");
    EXPECT_STREQ(smaller->Name(), table->block_cache->Name());
    EXPECT_EQ(BlockCacheText(*smaller), "kind=hyper_clock;capacity=1048576");
  }
}

}  // namespace
}  // namespace rocktune
