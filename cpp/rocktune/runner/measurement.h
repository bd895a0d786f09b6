#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "rocktune/device/throttled_file_system.h"
#include "rocktune/runner/stall_tracker.h"
#include "rocktune/runner/store.h"
#include "rocktune/util/histogram.h"
#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// Completed operations of one kind; the latencies count them.
struct OperationTotals {
  uint64_t found = 0;  // reads that found their key; entries for scans
  Histogram::Snapshot latency_ns;

  OperationTotals& operator-=(const OperationTotals& earlier);
};

// Everything countable that a run has done up to a moment. Totals of one run subtract to those of a window.
struct RunTotals {
  std::array<OperationTotals, kOperationKindCount> operations;
  uint64_t user_bytes_read = 0;
  uint64_t user_bytes_written = 0;
  StallTotals stalls;
  DeviceCounters device;
  double cpu_s = 0;
  std::map<std::string, uint64_t> tickers;
  Histogram::Snapshot level0_compactions_ns;

  // REQUIRES: `earlier` is an earlier moment of the same run.
  RunTotals& operator-=(const RunTotals& earlier);
};

// What happened in each interval of a window; the last one may be shorter.
struct Series {
  double interval_s = 0;
  std::vector<uint64_t> operations;
  std::vector<uint64_t> device_bytes_read;
  std::vector<uint64_t> device_bytes_written;
  std::vector<double> stalled_s;
};

// A window's figures: docs/design/measurement.md says what each means.
struct Measurement {
  double from_s = 0;
  double until_s = 0;
  RunTotals totals;  // of the window
  Series series;
  double max_write_stop_s = 0;
  StoreState state;  // at the end; its tickers and level0_compactions_ns are in totals
  uint64_t live_keys = 0;
  uint64_t logical_bytes = 0;
  uint64_t resident_bytes = 0;
};

nlohmann::json ToJson(const Measurement& measurement);

}  // namespace rocktune
