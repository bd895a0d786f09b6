#include "rocktune/runner/measurement.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rocktune {
namespace {

constexpr auto kGet = static_cast<std::size_t>(OperationKind::kGet);

TEST(RunTotalsTest, DifferenceIsTheTotalsOfAWindow) {
  Histogram latencies;
  latencies.Add(10);
  RunTotals earlier;
  earlier.operations[kGet] = {1, latencies.TakeSnapshot()};
  earlier.user_bytes_read = 100;
  earlier.user_bytes_written = 7;
  earlier.stalls = {5, 3};
  earlier.device.bytes = {1, 2, 3, 4, 5, 6};
  earlier.device.operations = {1, 1, 1, 1, 1, 1};
  earlier.cpu_s = 0.5;
  earlier.measuring_cpu_s = 0.125;
  earlier.load_cpu_s = 0.25;
  earlier.tickers = {{"a", 1}, {"b", 2}};
  latencies.Add(20);
  latencies.Add(30);
  RunTotals window;
  window.operations[kGet] = {3, latencies.TakeSnapshot()};
  window.user_bytes_read = 150;
  window.user_bytes_written = 7;
  window.stalls = {25, 4};
  window.device.bytes = {11, 2, 3, 4, 5, 106};
  window.device.operations = {3, 1, 1, 1, 1, 1};
  window.cpu_s = 0.75;
  window.measuring_cpu_s = 0.5;
  window.load_cpu_s = 0.375;
  window.tickers = {{"a", 4}, {"b", 2}, {"c", 9}};
  window -= earlier;
  EXPECT_EQ(window.operations[kGet].found, 2u);
  EXPECT_EQ(window.operations[kGet].latency_ns.count(), 2u);
  EXPECT_EQ(window.operations[kGet].latency_ns.sum(), 50u);
  EXPECT_EQ(window.user_bytes_read, 50u);
  EXPECT_EQ(window.user_bytes_written, 0u);
  EXPECT_EQ(window.stalls.stalled_ns, 20);
  EXPECT_EQ(window.stalls.stopped_ns, 1);
  EXPECT_EQ(window.device.bytes, (std::array<uint64_t, kIoCauseCount>{10, 0, 0, 0, 0, 100}));
  EXPECT_EQ(window.device.operations, (std::array<uint64_t, kIoCauseCount>{2, 0, 0, 0, 0, 0}));
  EXPECT_DOUBLE_EQ(window.cpu_s, 0.25);
  EXPECT_DOUBLE_EQ(window.measuring_cpu_s, 0.375);
  EXPECT_DOUBLE_EQ(window.load_cpu_s, 0.125);
  // Tickers that did not change are removed.
  EXPECT_EQ(window.tickers, (std::map<std::string, uint64_t>{{"a", 3}, {"c", 9}}));
}

TEST(MeasurementTest, FamiliesHavePartsOfTheirOwn) {
  Histogram latencies;
  latencies.Add(40);
  Measurement measurement;
  measurement.families = {"default", "large"};
  measurement.totals.families.resize(2);
  measurement.totals.families[1].operations[kGet] = {1, latencies.TakeSnapshot()};
  measurement.totals.families[1].user_bytes_read = 7;
  measurement.state.families = {{}, {{1, 2}, {3, 4}, 5, 6}};
  measurement.live_of = {{}, {8, 80}};
  const nlohmann::json families = ToJson(measurement).at("families");
  EXPECT_EQ(families.at("large"), nlohmann::json::parse(R"({
    "operations": {"get": {"count": 1, "found": 1, "latency_ns": [[40, 1]], "latency_sum_ns": 40}},
    "user_bytes_read": 7, "user_bytes_written": 0, "live_keys": 8, "logical_bytes": 80, "level_bytes": [1, 2],
    "level_files": [3, 4], "memtable_bytes": 5, "pending_compaction_bytes": 6})"));
  EXPECT_EQ(families.at("default").at("live_keys"), 0);
}

TEST(MeasurementTest, HasTheFieldsOfTheProtocol) {
  Histogram latencies;
  latencies.Add(40);  // each value below 64 has a bucket of its own
  latencies.Add(40);
  Measurement measurement;
  measurement.from_s = 1;
  measurement.until_s = 2.5;
  measurement.totals.operations[kGet] = {1, latencies.TakeSnapshot()};
  measurement.totals.stalls = {500'000'000, 250'000'000};
  measurement.totals.device.bytes = {1, 2, 3, 4, 5, 6};
  measurement.series = {0.5,         {1, 0, 1},    {0, 0, 0},    {1, 2, 3},
                        {0, 0.5, 0}, {20, 40, 30}, {60, 70, 80}, {1, 2, 1}};
  measurement.max_write_stop_s = 0.25;
  measurement.state.level_bytes = {10, 20};
  measurement.state.level_files = {1, 2};
  measurement.state.db_bytes = 30;
  measurement.state.memory_bytes = {
      {"memtables", 1}, {"block_cache", 2}, {"table_readers", 3}, {"block_cache_pinned", 4}};
  measurement.state.histograms["h"] = {2, 30, 15, 14, 20, 21, 22};
  measurement.live = {8, 80};
  measurement.resident_bytes = 5;
  const nlohmann::json expected = nlohmann::json::parse(R"({
    "event": "measurement", "from_s": 1.0, "until_s": 2.5,
    "operations": {"get": {"count": 2, "found": 1, "latency_ns": [[40, 2]], "latency_sum_ns": 80}},
    "user_bytes_read": 0, "user_bytes_written": 0,
    "series": {"interval_s": 0.5, "operations": [1, 0, 1], "device_bytes_read": [0, 0, 0],
               "device_bytes_written": [1, 2, 3], "stalled_s": [0.0, 0.5, 0.0], "stored_bytes": [20, 40, 30],
               "live_bytes": [60, 70, 80], "memtables_bytes": [1, 2, 1]},
    "stalled_s": 0.5, "write_stopped_s": 0.25, "max_write_stop_s": 0.25,
    "device_bytes": {"wal": 1, "flush": 2, "compaction_read": 3, "compaction_write": 4, "user_read": 5, "other": 6},
    "device_operations": {"wal": 0, "flush": 0, "compaction_read": 0, "compaction_write": 0, "user_read": 0,
                          "other": 0},
    "level_bytes": [10, 20], "level_files": [1, 2], "db_bytes": 30, "logical_bytes": 80, "live_keys": 8,
    "memory_bytes": {"memtables": 1, "block_cache": 2, "table_readers": 3, "block_cache_pinned": 4, "resident": 5},
    "cpu_s": 0.0, "measuring_cpu_s": 0.0, "load_cpu_s": 0.0, "level0_compactions": {"count": 0, "latency_ns": []}, "tickers": {},
    "histograms": {"h": {"count": 2, "sum": 30, "average": 15.0, "p50": 14.0, "p95": 20.0, "p99": 21.0, "max": 22.0}}
  })");
  EXPECT_EQ(ToJson(measurement), expected);
}

}  // namespace
}  // namespace rocktune
