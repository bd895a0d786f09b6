#include "worker/governing.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "rocktune/runner/run_error.h"
#include "worker/settings.h"

namespace rocktune {

GovernorOptions GovernorOptionsFromMap(const OptionMaps::Map& map) {
  GovernorOptions options;
  Settings settings("governor");
  settings.OneOf<GovernorMode>(
      "mode", {{"toggle", GovernorMode::kToggle}, {"proportional", GovernorMode::kProportional}},
      &options.mode);
  settings.Whole("device_bytes_per_s", &options.device_bytes_per_s);
  settings.Whole("max_flush_bytes_per_s", &options.max_flush_bytes_per_s);
  settings.Whole("debt_bytes", &options.debt_bytes);
  settings.Whole("debt_runs", &options.debt_runs);
  settings.Whole("interval_us", &options.interval_us);
  settings.Number("flush_share", &options.watermarks.flush_share);
  settings.Number("total_share", &options.watermarks.total_share);
  settings.Number("min_compaction_share", &options.min_compaction_share);
  settings.Truth("merge_level0", &options.merge_level0);
  settings.Read(map);
  GovernorOptions tried = options;
  tried.device_bytes_per_s = std::max<uint64_t>(1, tried.device_bytes_per_s);
  if (const rocksdb::Status status = CompactionGovernor::Check(tried); !status.ok()) {
    throw RunError(RunFailure::kInvalid, "governor: " + status.ToString());
  }
  return options;
}

OptionMaps::Map MapFromGovernorOptions(const GovernorOptions& options) {
  return {{"mode", options.mode == GovernorMode::kToggle ? "toggle" : "proportional"},
          {"device_bytes_per_s", std::to_string(options.device_bytes_per_s)},
          {"max_flush_bytes_per_s", std::to_string(options.max_flush_bytes_per_s)},
          {"debt_bytes", std::to_string(options.debt_bytes)},
          {"debt_runs", std::to_string(options.debt_runs)},
          {"interval_us", std::to_string(options.interval_us)},
          {"flush_share", NumberText(options.watermarks.flush_share)},
          {"total_share", NumberText(options.watermarks.total_share)},
          {"min_compaction_share", NumberText(options.min_compaction_share)},
          {"merge_level0", options.merge_level0 ? "true" : "false"}};
}

nlohmann::json ToJson(const GovernorCounters& counters) {
  const GovernorDecision& last = counters.last;
  return {{"intervals", counters.intervals},
          {"discarded_intervals", counters.discarded_intervals},
          {"switched_off", counters.switched_off},
          {"switched_on", counters.switched_on},
          {"failed_changes", counters.failed_changes},
          {"level0_merges", counters.level0_merges},
          {"level0_merged_tables", counters.level0_merged_tables},
          {"compaction_waited_s", static_cast<double>(counters.compaction_waited_ns) / 1e9},
          {"compactions_off", last.compactions_off},
          {"compaction_bytes_per_s", last.compaction_bytes_per_s},
          {"flush_share", last.flush_share},
          {"total_share", last.total_share},
          {"debt_share", last.debt_share},
          {"pending_bytes", last.sample.pending_bytes},
          {"sorted_runs", last.sample.sorted_runs},
          {"flushes_lag", last.sample.flushes_lag},
          {"level0_due", last.sample.level0_due}};
}

}  // namespace rocktune
