#include "rocktune/flsm/flsm_plan.h"

#include <rocksdb/table.h>

#include <algorithm>

#include "rocktune/flsm/flsm_layout.h"

namespace rocktune {
namespace {

// Completes a plan that has name, layout and shape.
rocksdb::Status Complete(const rocksdb::ColumnFamilyOptions& options, FlsmPlan* plan) {
  if (options.cf_paths.size() > 1) {
    return rocksdb::Status::NotSupported(
        "cf_paths", "an FLSM store needs a single path for its tables; leave this option empty");
  }
  plan->shape.granularity = plan->layout.granularity;
  plan->shape.file_bytes = options.target_file_size_base;
  plan->shape.max_level0_files = MaxLevel0Runs(plan->layout.level0_runs, options);
  plan->options = TreeOptions(options, plan->shape);
  return SetFilters(plan->layout.filters, plan->shape, &plan->options, &plan->filters);
}

}  // namespace

rocksdb::ColumnFamilyOptions TreeOptions(const rocksdb::ColumnFamilyOptions& given, const FlsmShape& shape) {
  rocksdb::ColumnFamilyOptions options = given;
  options.compaction_style = rocksdb::kCompactionStyleNone;
  // With `true` RocksDB would never slow or stop writes, and level 0 would grow without bound.
  options.disable_auto_compactions = false;
  options.num_levels = shape.PhysicalLevels();
  options.compression_per_level.clear();
  options.level_compaction_dynamic_level_bytes = false;
  return options;
}

rocksdb::Status SetFilters(const FlsmFilters& filters, const FlsmShape& shape,
                           rocksdb::ColumnFamilyOptions* options, std::shared_ptr<FlsmFilterPolicy>* policy) {
  if (filters.bits_per_key == 0) {
    return rocksdb::Status::OK();
  }
  const auto* table = options->table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr) {
    return rocksdb::Status::InvalidArgument(
        "filters need block-based tables; set bits_per_key to 0 or table_factory to block-based");
  }
  *policy = std::make_shared<FlsmFilterPolicy>(filters, shape.size_ratio, shape.slots, shape.deepest());
  rocksdb::BlockBasedTableOptions filtered = *table;
  filtered.filter_policy = *policy;
  options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(filtered));
  return rocksdb::Status::OK();
}

rocksdb::Status CheckDatabaseOptions(const rocksdb::DBOptions& options) {
  if (options.db_paths.size() > 1) {
    return rocksdb::Status::NotSupported(
        "db_paths", "an FLSM store needs a single path for its tables; leave this option empty");
  }
  if (options.allow_ingest_behind) {
    return rocksdb::Status::NotSupported(
        "allow_ingest_behind",
        "an FLSM store uses the deepest level, which this option reserves; set it to false");
  }
  return rocksdb::Status::OK();
}

// Half of the slowdown trigger, so that as many files can arrive again while these are merged. At least two
// less than it, because a flush waits if its file would make RocksDB slow writes.
uint64_t MaxLevel0Runs(int level0_runs, const rocksdb::ColumnFamilyOptions& options) {
  const int slowdown = options.level0_slowdown_writes_trigger;
  return static_cast<uint64_t>(std::clamp(level0_runs, 0, std::max(0, std::min(slowdown / 2, slowdown - 2))));
}

rocksdb::Status PlanNewFamily(const std::string& name, const rocksdb::ColumnFamilyOptions& options,
                              const FlsmOptions& layout, FlsmPlan* plan) {
  *plan = {name, LayoutOfNewStore(layout), {}, {}, nullptr, 0};
  rocksdb::Status status = CheckLayout(plan->layout);
  if (!status.ok()) {
    return status;
  }
  plan->shape = EmptyShape(plan->layout, options.write_buffer_size, options.target_file_size_base);
  return Complete(options, plan);
}

rocksdb::Status PlanFamily(const std::string& name, const rocksdb::ColumnFamilyOptions& options,
                           const FlsmOptions& layout, const FlsmShape& shape, FlsmPlan* plan) {
  *plan = {name, LayoutOfStore(layout, shape), shape, {}, nullptr, 0};
  rocksdb::Status status = CheckLayout(plan->layout);
  if (status.ok()) {
    status = CheckLayoutOfStore(plan->layout, shape);
  }
  if (!status.ok()) {
    return status;
  }
  if (plan->layout.levels > shape.deepest()) {
    plan->shape.levels.resize(static_cast<std::size_t>(plan->layout.levels),
                              FlsmLevel{shape.levels.back().policy, 0, false, {}});
  }
  return Complete(options, plan);
}

}  // namespace rocktune
