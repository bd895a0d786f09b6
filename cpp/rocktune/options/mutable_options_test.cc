#include "rocktune/options/mutable_options.h"

#include <gtest/gtest.h>

#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

TEST(MutableOptionsTest, AreThoseThatSetOptionsTakes) {
  const MutableOptions options = MutableOptionsOfRocksDb();
  for (const char* name : {"write_buffer_size", "level0_stop_writes_trigger", "compression_opts", "ttl"}) {
    EXPECT_TRUE(options.cf.contains(name)) << name;
  }
  for (const char* name :
       {"num_levels", "compaction_style", "comparator", "prefix_extractor", "table_factory"}) {
    EXPECT_FALSE(options.cf.contains(name)) << name;
  }
  EXPECT_TRUE(options.db.contains("max_background_jobs"));
  EXPECT_FALSE(options.db.contains("use_fsync"));
  EXPECT_FALSE(options.db.contains(kWriteBuffersOption));
}

TEST(MutableOptionsTest, TablesChangeWhereRocksDbReplacesTheirFactory) {
  const MutableOptions options = MutableOptionsOfRocksDb();
  EXPECT_EQ(options.table.contains("block_size"), ReplacesTableFactory());
  EXPECT_FALSE(options.table.contains(kBlockCacheOption));
  EXPECT_FALSE(options.table.contains("no_block_cache"));
}

}  // namespace
}  // namespace rocktune
