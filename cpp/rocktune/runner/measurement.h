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

  OperationTotals& operator+=(const OperationTotals& more);
  OperationTotals& operator-=(const OperationTotals& earlier);
};

// The completed operations on a column family, or on all.
struct LoadTotals {
  std::array<OperationTotals, kOperationKindCount> operations;  // indexed by OperationKind
  uint64_t user_bytes_read = 0;                                 // keys and values that were found
  uint64_t user_bytes_written = 0;                              // keys and values; of deletes the keys

  LoadTotals& operator+=(const LoadTotals& more);
  // REQUIRES: `earlier` is of an earlier time of the same run.
  LoadTotals& operator-=(const LoadTotals& earlier);
};

// The cumulative counters of a run at a time. The difference of two of them is the totals of a window.
struct RunTotals : LoadTotals {      // of all column families
  std::vector<LoadTotals> families;  // by index
  StallTotals stalls;
  DeviceCounters device;
  double cpu_s = 0;                           // of all threads but those that measure
  double measuring_cpu_s = 0;                 // of those
  double load_cpu_s = 0;                      // of the load threads
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
  std::vector<uint64_t> stored_bytes;     // of the store on disk, at the interval's end
  std::vector<uint64_t> live_bytes;       // of the live data of all families, at the interval's end
  std::vector<uint64_t> memtables_bytes;  // of all families, at most 50 ms before the interval's end
};

// The live data of a column family, estimated.
struct LiveData {
  uint64_t keys = 0;           // keys in the store
  uint64_t logical_bytes = 0;  // bytes of these keys and their values
};

// The measurement of a window. docs/design/measurement.md defines each figure.
struct Measurement {
  double from_s = 0;   // the run's age at the window's beginning
  double until_s = 0;  // the run's age at the window's end
  RunTotals totals;    // of the window
  Series series;
  double max_write_stop_s = 0;  // longest time without writes in the window; may begin before it
  StoreState state;             // at the window's end, cumulative; `totals` has its counters of the window
  // Names of the column families by index; empty if the workload uses the default one alone. Each then has a
  // part of its own in the JSON.
  std::vector<std::string> families;
  LiveData live;                  // of all families, at the window's end
  std::vector<LiveData> live_of;  // by family
  uint64_t resident_bytes = 0;    // physical memory of the process at the window's end
};

// Returns the measurement as the worker's protocol defines it (docs/design/worker-protocol.md).
nlohmann::json ToJson(const Measurement& measurement);

}  // namespace rocktune
