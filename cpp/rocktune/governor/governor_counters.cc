#include "rocktune/governor/governor_counters.h"

#include <nlohmann/json.hpp>

#include "rocktune/util/prometheus.h"

namespace rocktune {

std::string PrometheusText(const GovernorCounters& counters) {
  PrometheusWriter metrics("rocktune_governor_");
  metrics.Add("intervals_total", "counter", "Intervals that ended with a decision.",
              static_cast<double>(counters.intervals));
  metrics.Add("discarded_intervals_total", "counter",
              "Intervals without a decision, because the clock jumped.",
              static_cast<double>(counters.discarded_intervals));
  metrics.Add("switched_off_total", "counter", "Times that compactions were switched off.",
              static_cast<double>(counters.switched_off));
  metrics.Add("switched_on_total", "counter", "Times that compactions were switched on.",
              static_cast<double>(counters.switched_on));
  metrics.Add("failed_changes_total", "counter", "Changes of options that failed.",
              static_cast<double>(counters.failed_changes));
  metrics.Add("level0_merges_total", "counter", "Merges of level-0 tables with each other.",
              static_cast<double>(counters.level0_merges));
  metrics.Add("level0_merged_tables_total", "counter", "Level-0 tables merged with each other.",
              static_cast<double>(counters.level0_merged_tables));
  metrics.Add("compaction_waited_seconds_total", "counter",
              "Time that compactions waited for the limit, summed over threads.",
              static_cast<double>(counters.compaction_waited_ns) / 1e9);
  for (const IoCause cause : {IoCause::kFlush, IoCause::kCompactionRead, IoCause::kCompactionWrite}) {
    const std::string name = kIoCauseNames[static_cast<std::size_t>(cause)];
    metrics.Add(name + "_bytes_total", "counter", "Bytes of this cause through the rate limiter.",
                static_cast<double>(counters.device.bytes[static_cast<std::size_t>(cause)]));
  }
  metrics.Add("device_bytes_per_second", "gauge",
              "Bandwidth of the device, as given or found; 0 if not found yet.",
              static_cast<double>(counters.device_bytes_per_s));
  metrics.Add("device_read_share", "gauge", "Share of reads that reached the device, not the page cache.",
              counters.device_read_share);
  metrics.Add("debt_share", "gauge", "Debt as a share of the bound it is nearest to.",
              counters.last.debt_share);
  metrics.Add("compactions_off", "gauge", "1 while compactions are switched off.",
              counters.last.compactions_off ? 1 : 0);
  metrics.Add("compaction_bytes_per_second", "gauge",
              "Limit of compactions' reads and writes; 0 if unlimited.",
              static_cast<double>(counters.last.compaction_bytes_per_s));
  return metrics.text();
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
          {"device_bytes_per_s", counters.device_bytes_per_s},
          {"device_read_share", counters.device_read_share},
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
