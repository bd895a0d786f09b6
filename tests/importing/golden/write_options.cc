// Writes the OPTIONS file of a store with many options set, for the golden files beside it (README.md).
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

using namespace rocksdb;  // NOLINT: a program of one file

namespace {

class AcmeMerge : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "acme.Merge"; }
  bool Merge(const Slice&, const Slice*, const Slice& value, std::string* result, Logger*) const override {
    *result = value.ToString();
    return true;
  }
};

void SetOptions(DBOptions* db_options, const std::string& directory) {
  db_options->create_missing_column_families = true;
  db_options->max_background_jobs = 6;
  db_options->max_open_files = 4000;
  db_options->bytes_per_sync = 1 << 20;
  db_options->max_subcompactions = 3;
  db_options->rate_limiter.reset(NewGenericRateLimiter(64 << 20));
  db_options->db_log_dir = directory + "/log: of #one";
  db_options->wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  db_options->enable_pipelined_write = true;
}

ColumnFamilyOptions Level() {
  ColumnFamilyOptions cf;
  cf.write_buffer_size = 48 << 20;
  cf.max_write_buffer_number = 5;
  cf.min_write_buffer_number_to_merge = 2;
  cf.num_levels = 6;
  cf.compression_per_level = {kNoCompression, kNoCompression, kLZ4Compression, kZSTD, kZSTD, kZSTD};
  cf.bottommost_compression = kZSTD;
  cf.bottommost_compression_opts.enabled = true;
  cf.bottommost_compression_opts.level = 7;
  cf.bottommost_compression_opts.max_dict_bytes = 16384;
  cf.compression_opts.parallel_threads = 2;
  cf.level0_slowdown_writes_trigger = 24;
  cf.soft_pending_compaction_bytes_limit = uint64_t{32} << 30;
  cf.max_bytes_for_level_multiplier = 8.5;
  cf.max_bytes_for_level_multiplier_additional = {1, 2, 1, 1, 1, 1};
  cf.memtable_prefix_bloom_size_ratio = 0.05;
  cf.prefix_extractor.reset(NewFixedPrefixTransform(8));
  cf.enable_blob_files = true;
  cf.min_blob_size = 4096;
  cf.ttl = 86400;
  cf.periodic_compaction_seconds = 604800;
  BlockBasedTableOptions table;
  table.block_size = 16384;
  table.filter_policy.reset(NewBloomFilterPolicy(9.5));
  table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.cache_index_and_filter_blocks = true;
  table.metadata_cache_options.top_level_index_pinning = PinningTier::kAll;
  table.block_cache = NewLRUCache(256 << 20);
  cf.table_factory.reset(NewBlockBasedTableFactory(table));
  return cf;
}

ColumnFamilyOptions Universal() {
  ColumnFamilyOptions cf;
  cf.compaction_style = kCompactionStyleUniversal;
  cf.compaction_options_universal.size_ratio = 10;
  cf.compaction_options_universal.max_merge_width = 12;
  cf.merge_operator = std::make_shared<AcmeMerge>();
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewRibbonFilterPolicy(9));
  cf.table_factory.reset(NewBlockBasedTableFactory(table));
  return cf;
}

ColumnFamilyOptions Fifo() {
  ColumnFamilyOptions cf;
  cf.compaction_style = kCompactionStyleFIFO;
  cf.compaction_options_fifo.max_table_files_size = uint64_t{8} << 30;
  cf.compaction_options_fifo.allow_compaction = true;
  return cf;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: write_options DIRECTORY bare|default|families\n");
    return 2;
  }
  const std::string kind = argv[2];
  DBOptions db_options;
  db_options.create_if_missing = true;
  std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, ColumnFamilyOptions()}};
  if (kind != "bare") {
    SetOptions(&db_options, argv[1]);
    families[0].options = Level();
  }
  if (kind == "families") {
    db_options.max_open_files = -1;  // FIFO compaction needs it
    families.emplace_back("queue: \"hot\" #one", Universal());
    families.emplace_back("events", Fifo());
  }
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  Status status;
#if ROCKSDB_MAJOR >= 11
  status = DB::Open(db_options, argv[1], families, &handles, &db);
#else
  DB* opened = nullptr;
  status = DB::Open(db_options, argv[1], families, &handles, &opened);
  db.reset(opened);
#endif
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  for (ColumnFamilyHandle* handle : handles) {
    db->DestroyColumnFamilyHandle(handle);
  }
  return db->Close().ok() ? 0 : 1;
}
