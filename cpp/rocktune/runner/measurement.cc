#include "rocktune/runner/measurement.h"

#include <cstddef>
#include <nlohmann/json.hpp>

namespace rocktune {
namespace {

double Seconds(RunClock::Nanos nanos) { return static_cast<double>(nanos) / 1e9; }

nlohmann::json OperationsJson(const LoadTotals& totals) {
  nlohmann::json operations = nlohmann::json::object();
  for (std::size_t kind = 0; kind < kOperationKindCount; ++kind) {
    const OperationTotals& of_kind = totals.operations[kind];
    if (of_kind.latency_ns.count() != 0) {
      operations[kOperationKindNames[kind]] = {{"count", of_kind.latency_ns.count()},
                                               {"found", of_kind.found},
                                               {"latency_ns", of_kind.latency_ns.Buckets()},
                                               {"latency_sum_ns", of_kind.latency_ns.sum()}};
    }
  }
  return operations;
}

nlohmann::json ByCause(const std::array<uint64_t, kIoCauseCount>& counts) {
  nlohmann::json json;
  for (std::size_t cause = 0; cause < kIoCauseCount; ++cause) {
    json[kIoCauseNames[cause]] = counts[cause];
  }
  return json;
}

nlohmann::json SeriesJson(const Series& series) {
  return {{"interval_s", series.interval_s},
          {"operations", series.operations},
          {"device_bytes_read", series.device_bytes_read},
          {"device_bytes_written", series.device_bytes_written},
          {"stalled_s", series.stalled_s},
          {"stored_bytes", series.stored_bytes},
          {"live_bytes", series.live_bytes},
          {"memtables_bytes", series.memtables_bytes}};
}

nlohmann::json FamiliesJson(const Measurement& measurement) {
  nlohmann::json families = nlohmann::json::object();
  for (std::size_t i = 0; i < measurement.families.size(); ++i) {
    const LoadTotals& totals = measurement.totals.families[i];
    const FamilyState& state = measurement.state.families[i];
    families[measurement.families[i]] = {{"operations", OperationsJson(totals)},
                                         {"user_bytes_read", totals.user_bytes_read},
                                         {"user_bytes_written", totals.user_bytes_written},
                                         {"live_keys", measurement.live_of[i].keys},
                                         {"logical_bytes", measurement.live_of[i].logical_bytes},
                                         {"level_bytes", state.level_bytes},
                                         {"level_files", state.level_files},
                                         {"memtable_bytes", state.memtable_bytes},
                                         {"pending_compaction_bytes", state.pending_compaction_bytes}};
  }
  return families;
}

nlohmann::json HistogramsJson(const StoreState& state) {
  nlohmann::json histograms = nlohmann::json::object();
  for (const auto& [name, figures] : state.histograms) {
    histograms[name] = {{"count", figures.count}, {"sum", figures.sum}, {"average", figures.average},
                        {"p50", figures.p50},     {"p95", figures.p95}, {"p99", figures.p99},
                        {"max", figures.max}};
  }
  return histograms;
}

}  // namespace

OperationTotals& OperationTotals::operator-=(const OperationTotals& earlier) {
  found -= earlier.found;
  latency_ns -= earlier.latency_ns;
  return *this;
}

OperationTotals& OperationTotals::operator+=(const OperationTotals& more) {
  found += more.found;
  latency_ns += more.latency_ns;
  return *this;
}

LoadTotals& LoadTotals::operator+=(const LoadTotals& more) {
  for (std::size_t kind = 0; kind < kOperationKindCount; ++kind) {
    operations[kind] += more.operations[kind];
  }
  user_bytes_read += more.user_bytes_read;
  user_bytes_written += more.user_bytes_written;
  return *this;
}

LoadTotals& LoadTotals::operator-=(const LoadTotals& earlier) {
  for (std::size_t kind = 0; kind < kOperationKindCount; ++kind) {
    operations[kind] -= earlier.operations[kind];
  }
  user_bytes_read -= earlier.user_bytes_read;
  user_bytes_written -= earlier.user_bytes_written;
  return *this;
}

RunTotals& RunTotals::operator-=(const RunTotals& earlier) {
  LoadTotals::operator-=(earlier);
  for (std::size_t family = 0; family < families.size(); ++family) {
    families[family] -= earlier.families[family];
  }
  stalls.stalled_ns -= earlier.stalls.stalled_ns;
  stalls.stopped_ns -= earlier.stalls.stopped_ns;
  for (std::size_t cause = 0; cause < kIoCauseCount; ++cause) {
    device.bytes[cause] -= earlier.device.bytes[cause];
    device.operations[cause] -= earlier.device.operations[cause];
  }
  cpu_s -= earlier.cpu_s;
  measuring_cpu_s -= earlier.measuring_cpu_s;
  load_cpu_s -= earlier.load_cpu_s;
  level0_compactions_ns -= earlier.level0_compactions_ns;
  for (const auto& [name, count] : earlier.tickers) {
    const auto ticker = tickers.find(name);
    if (ticker != tickers.end() && (ticker->second -= count) == 0) {
      tickers.erase(ticker);
    }
  }
  return *this;
}

nlohmann::json ToJson(const Measurement& measurement) {
  const RunTotals& totals = measurement.totals;
  nlohmann::json memory = measurement.state.memory_bytes;
  memory["resident"] = measurement.resident_bytes;
  nlohmann::json json = {{"event", "measurement"},
                         {"from_s", measurement.from_s},
                         {"until_s", measurement.until_s},
                         {"operations", OperationsJson(totals)},
                         {"user_bytes_read", totals.user_bytes_read},
                         {"user_bytes_written", totals.user_bytes_written},
                         {"series", SeriesJson(measurement.series)},
                         {"stalled_s", Seconds(totals.stalls.stalled_ns)},
                         {"write_stopped_s", Seconds(totals.stalls.stopped_ns)},
                         {"max_write_stop_s", measurement.max_write_stop_s},
                         {"device_bytes", ByCause(totals.device.bytes)},
                         {"device_operations", ByCause(totals.device.operations)},
                         {"level_bytes", measurement.state.level_bytes},
                         {"level_files", measurement.state.level_files},
                         {"db_bytes", measurement.state.db_bytes},
                         {"logical_bytes", measurement.live.logical_bytes},
                         {"live_keys", measurement.live.keys},
                         {"memory_bytes", memory},
                         {"cpu_s", totals.cpu_s},
                         {"measuring_cpu_s", totals.measuring_cpu_s},
                         {"load_cpu_s", totals.load_cpu_s},
                         {"level0_compactions",
                          {{"count", totals.level0_compactions_ns.count()},
                           {"latency_ns", totals.level0_compactions_ns.Buckets()}}},
                         {"tickers", totals.tickers},
                         {"histograms", HistogramsJson(measurement.state)}};
  if (!measurement.families.empty()) {
    json["families"] = FamiliesJson(measurement);
  }
  return json;
}

}  // namespace rocktune
