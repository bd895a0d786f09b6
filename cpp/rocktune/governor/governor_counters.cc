#include "rocktune/governor/governor_counters.h"

#include <nlohmann/json.hpp>

namespace rocktune {

std::string PrometheusText(const GovernorCounters& counters) {
  std::string text;
  const auto add = [&text](const std::string& name, const char* type, const char* help, double value) {
    const std::string full = "rocktune_governor_" + name;
    text += "# HELP " + full + " " + help + "\n# TYPE " + full + " " + type + "\n";
    text += full + " " + std::to_string(value) + "\n";
  };
  add("intervals_total", "counter", "Intervals that ended with a decision.",
      static_cast<double>(counters.intervals));
  add("discarded_intervals_total", "counter", "Intervals without a decision, because the clock jumped.",
      static_cast<double>(counters.discarded_intervals));
  add("switched_off_total", "counter", "Times that compactions were switched off.",
      static_cast<double>(counters.switched_off));
  add("switched_on_total", "counter", "Times that compactions were switched on.",
      static_cast<double>(counters.switched_on));
  add("failed_changes_total", "counter", "Changes of options that failed.",
      static_cast<double>(counters.failed_changes));
  add("level0_merges_total", "counter", "Merges of level-0 tables with each other.",
      static_cast<double>(counters.level0_merges));
  add("level0_merged_tables_total", "counter", "Level-0 tables merged with each other.",
      static_cast<double>(counters.level0_merged_tables));
  add("compaction_waited_seconds_total", "counter",
      "Time that compactions waited for the limit, summed over threads.",
      static_cast<double>(counters.compaction_waited_ns) / 1e9);
  for (const IoCause cause : {IoCause::kFlush, IoCause::kCompactionRead, IoCause::kCompactionWrite}) {
    const std::string name = kIoCauseNames[static_cast<std::size_t>(cause)];
    add(name + "_bytes_total", "counter", "Bytes of this cause through the rate limiter.",
        static_cast<double>(counters.device.bytes[static_cast<std::size_t>(cause)]));
  }
  add("device_bytes_per_second", "gauge", "Bandwidth of the device, as given or found; 0 if not found yet.",
      static_cast<double>(counters.device_bytes_per_s));
  add("device_read_share", "gauge", "Share of reads that reached the device, not the page cache.",
      counters.device_read_share);
  add("debt_share", "gauge", "Debt as a share of the bound it is nearest to.", counters.last.debt_share);
  add("compactions_off", "gauge", "1 while compactions are switched off.",
      counters.last.compactions_off ? 1 : 0);
  add("compaction_bytes_per_second", "gauge", "Limit of compactions' reads and writes; 0 if unlimited.",
      static_cast<double>(counters.last.compaction_bytes_per_s));
  return text;
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
