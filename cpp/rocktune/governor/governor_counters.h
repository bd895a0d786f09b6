#pragma once

#include <rocksdb/status.h>

#include <cstdint>
#include <string>

#include "rocktune/device/io_counters.h"
#include "rocktune/governor/governor_policy.h"

namespace rocktune {

// What a governor decided after one interval, and on what grounds.
struct GovernorDecision {
  uint64_t time_us = 0;  // by the governor's clock
  GovernorSample sample;
  double flush_share = 0;  // of the maximum flush rate
  double total_share = 0;  // likewise: flushes and what compactions write
  double debt_share = 0;   // of the nearest bound
  bool compactions_off = false;
  uint64_t compaction_bytes_per_s = 0;  // 0: not limited
  rocksdb::Status status;               // the first option that could not be set, if any
};

// What a governor has done so far.
struct GovernorCounters {
  uint64_t intervals = 0;
  uint64_t discarded_intervals = 0;  // the clock had jumped
  uint64_t switched_off = 0;
  uint64_t switched_on = 0;
  uint64_t failed_changes = 0;  // of options
  uint64_t level0_merges = 0;   // of tables of level 0 with each other
  uint64_t level0_merged_tables = 0;
  uint64_t compaction_waited_ns = 0;
  DeviceCounters device;
  GovernorDecision last;
};

// Returns the counters in Prometheus' text format.
std::string PrometheusText(const GovernorCounters& counters);

}  // namespace rocktune
