#pragma once

#include <rocksdb/status.h>

#include <cstdint>

#include "rocktune/io_cause.h"

namespace rocktune {

// The device's traffic in one interval by cause, and the compaction debt at the interval's end.
struct GovernorSample {
  double seconds = 0;  // the interval's length, above 0
  uint64_t flush_bytes = 0;
  uint64_t compaction_read_bytes = 0;
  uint64_t compaction_write_bytes = 0;
  uint64_t wal_bytes = 0;
  uint64_t user_read_bytes = 0;  // from the device; without hits in the operating system's page cache
  // Times that a write waited for the refill of the empty bucket, by the kind of write that waited first.
  // Counted in mode kDrains.
  uint64_t flush_drains = 0;
  uint64_t compaction_drains = 0;
  // RocksDB's estimate of the bytes that compactions have yet to rewrite, in the column family with most.
  uint64_t pending_bytes = 0;
  // Tables in level 0 of the column family with most; each is a sorted run that a lookup may have to read.
  uint64_t sorted_runs = 0;
  // True if half of the memtables are full and wait for a flush. The write rate then shows what flushes get
  // of the device, not what clients ask for.
  bool flushes_lag = false;
  // True if level 0 has reached its compaction trigger.
  bool level0_due = false;
};

// What a governor decided after one interval, and from which figures.
struct GovernorDecision {
  uint64_t time_us = 0;  // of the governor's clock
  GovernorSample sample;
  double flush_share = 0;  // flushes, as a share of the maximum flush rate
  double total_share = 0;  // flushes and compaction writes, as a share of the maximum flush rate
  double debt_share = 0;   // the debt, as a share of the bound it is nearest to
  bool compactions_off = false;
  uint64_t compaction_bytes_per_s = 0;  // the limit of compactions' reads and writes; 0 if unlimited
  rocksdb::Status status;               // the first failure to set an option; OK if there was none
};

// What a governor has done since it was created.
struct GovernorCounters {
  uint64_t intervals = 0;
  uint64_t discarded_intervals = 0;  // without a decision, because the clock had jumped
  uint64_t switched_off = 0;         // times that compactions were switched off
  uint64_t switched_on = 0;          // times that compactions were switched on
  uint64_t failed_changes = 0;       // changes of options that failed
  uint64_t level0_merges = 0;        // merges of level-0 tables with each other
  uint64_t level0_merged_tables = 0;
  // Bandwidth of the device, as given or as found; 0 before the first Attach of a governor that finds it.
  uint64_t device_bytes_per_s = 0;
  // Share of RocksDB's reads that reached the device lately; the others were hits in the page cache.
  double device_read_share = 1;
  uint64_t compaction_waited_ns = 0;  // time that compactions waited for the governor's limit
  DeviceCounters device;
  GovernorDecision last;  // the latest decision
};

}  // namespace rocktune
