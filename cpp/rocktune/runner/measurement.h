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

// The completed operations of one kind.
struct OperationTotals {
  uint64_t found = 0;              // reads that found their key; for scans, entries read
  Histogram::Snapshot latency_ns;  // its count is the number of operations

  OperationTotals& operator-=(const OperationTotals& earlier);
};

// The cumulative counters of a run at a time. The difference of two of them is the totals of a window.
struct RunTotals {
  std::array<OperationTotals, kOperationKindCount> operations;  // indexed by OperationKind
  uint64_t user_bytes_read = 0;                                 // keys and values that were found
  uint64_t user_bytes_written = 0;                              // keys and values; of deletes the keys
  StallTotals stalls;
  DeviceCounters device;
  double cpu_s = 0;                           // of all threads of the process
  std::map<std::string, uint64_t> tickers;    // RocksDB's, without those that are 0
  Histogram::Snapshot level0_compactions_ns;  // durations of compactions of level 0

  // Subtracts `earlier`. Tickers whose difference is 0 are removed.
  // REQUIRES: `earlier` is of an earlier time of the same run.
  RunTotals& operator-=(const RunTotals& earlier);
};

// Figures of each interval of a window. The vectors have equal lengths; the last interval may be shorter.
struct Series {
  double interval_s = 0;
  std::vector<uint64_t> operations;  // completed in the interval
  std::vector<uint64_t> device_bytes_read;
  std::vector<uint64_t> device_bytes_written;
  std::vector<double> stalled_s;
};

// The measurement of a window. docs/design/measurement.md defines each figure.
struct Measurement {
  double from_s = 0;   // the run's age at the window's beginning
  double until_s = 0;  // the run's age at the window's end
  RunTotals totals;    // of the window
  Series series;
  double max_write_stop_s = 0;  // longest time without writes in the window; may begin before it
  StoreState state;             // at the window's end, cumulative; `totals` has its counters of the window
  uint64_t live_keys = 0;       // keys in the store at the window's end
  uint64_t logical_bytes = 0;   // bytes of these keys and their values, estimated
  uint64_t resident_bytes = 0;  // physical memory of the process at the window's end
};

// Returns the measurement as the worker's protocol defines it (docs/design/worker-protocol.md).
nlohmann::json ToJson(const Measurement& measurement);

}  // namespace rocktune
