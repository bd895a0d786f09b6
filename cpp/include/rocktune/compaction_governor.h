#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/status.h>
#include <rocksdb/system_clock.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/governor_decision.h"

namespace rocktune {

// How a governor holds compactions back while writes peak.
enum class GovernorMode {
  kProportional,  // limits them to the device bandwidth that flushes, the WAL and reads leave
  kToggle,        // also switches them off and on, as Warlo's auto-tuner does
  // Warlo's auto-tuner as published, for comparison: caps flushes and compactions together at
  // max_flush_bytes_per_s and switches compactions off and on by how often that cap is reached. Ignores
  // debt_bytes and debt_runs in its decisions; set both to 0 for the thesis' triggers.
  kDrains,
};

// The toggle's watermarks (Warlo, section 3.3.7), as shares of the maximum flush rate. In mode kDrains they
// are shares of the refills that were waited for.
struct ToggleWatermarks {
  double flush_share = 0.5;
  double total_share = 0.9;
};

struct GovernorOptions {
  GovernorMode mode = GovernorMode::kProportional;
  // Bandwidth of the device, reads and writes together. 0 lets the governor find it: the first Attach writes
  // up to 64 MiB into the database's directory, for up to a second, and the rate of synced writes raises the
  // result later. The LOG and GovernorCounters say what was found. Give the value if the device is shared
  // with others, or if it is fast only in bursts.
  uint64_t device_bytes_per_s = 0;
  // Rate of flushes while only the WAL is written besides; 0 means half of the device's bandwidth. In mode
  // kDrains also the cap of flushes and compactions together.
  uint64_t max_flush_bytes_per_s = 0;
  // Bounds of the compaction debt: bytes still to be rewritten, and tables in level 0. Writes are slowed
  // from three quarters of a bound and stop at the bound. 0 means no bound. RocksDB's own options stop writes
  // at debt_bytes too. Three quarters of debt_runs must exceed each column family's
  // level0_file_num_compaction_trigger; Attach checks it.
  uint64_t debt_bytes = uint64_t{256} << 30;
  uint64_t debt_runs = 1000;
  // Time between two decisions whether compactions are switched off, and between two calls of on_decision.
  // The limit of compactions is adjusted ten times as often.
  uint64_t interval_us = 10'000'000;
  ToggleWatermarks watermarks;  // used in modes kToggle and kDrains
  // Share of the device that compactions may always use, above 0 and at most 1. Used in mode kProportional.
  double min_compaction_share = 0.02;
  // True to merge level-0 tables with each other while there are more of them than the column family's own
  // options allow without slowing writes. It costs one more writing of these tables. A lookup then reads tens
  // of tables after a peak instead of hundreds. Used in mode kProportional. RocksDB before 7.10 orders level
  // 0 by sequence numbers; there ingested tables, and flushed tables of a single entry, are left out.
  bool merge_level0 = true;
  // Returns the bytes that the databases have read from the device since any fixed time, for telling reads
  // from hits in the operating system's page cache. Called on the governor's thread and by Attach and Detach;
  // must not throw. Null means read_bytes of /proc/self/io, of the whole process. 0 means unknown; then
  // every read of RocksDB counts as one from the device, which is right on a ThrottledFileSystem.
  std::function<uint64_t()> device_read_bytes;
  // Called on the governor's thread after each interval. Must not throw, and must not call Attach or Detach.
  std::function<void(const GovernorDecision&)> on_decision;
  // The clock; null means RocksDB's default clock.
  std::shared_ptr<rocksdb::SystemClock> clock;
};

// Keeps compactions from taking device bandwidth from writes while these peak, and lets compactions catch up
// afterwards.
//
//     std::unique_ptr<rocktune::CompactionGovernor> governor;
//     rocktune::CompactionGovernor::Create({.device_bytes_per_s = 400'000'000}, &governor);
//     governor->Prepare(&options);    // before the database is opened
//     rocksdb::DB::Open(options, path, &db);
//     governor->Attach(db);
//     ...
//     governor->Detach(db, 10s);      // before the database is closed
//
// Column families that are created later are attached by another call of Attach, or by GovernedDb
// (governed_db.h), which does it for you.
//
// One governor may serve several databases and column families that share a device. It has two threads: one
// changes options between Attach and Detach, one merges level-0 tables. Thread-safe. Throws no exception.
// Ownership: the caller owns the governor. A database and its column families must be detached before they
// are closed or dropped; options that Prepare has changed keep the limiter alive.
//
// The application may go on to call SetOptions. A trigger that it sets is raised again within a tenth of an
// interval, and Detach restores the value that it has set. Compactions that it switches off stay off until it
// switches them on; compactions that it switches on may be switched off again. A value that equals the
// governor's own goes unnoticed.
//
// RocksDB writes the options that a governor sets into the database's OPTIONS file. Between Attach and Detach
// the file ROCKTUNE_GOVERNOR in the database's directory holds the original options:
// - After a kill or a power cut, a program that takes its options from the OPTIONS file opens the database
//   with the governor's options, perhaps with compactions off. The next Attach takes the original options
//   from ROCKTUNE_GOVERNOR. A program without a governor calls Recover.
// - A program that opens the database with options of its own keeps these. ROCKTUNE_GOVERNOR counts only for
//   a column family that still has triggers set by a governor; otherwise the next Attach replaces the file.
// - After a kill, compactions that the application switched off between Attach and the kill are on again.
// - A Checkpoint or backup made between Attach and Detach holds the governor's options in its OPTIONS file
//   and lacks ROCKTUNE_GOVERNOR. Detach before copying, open the copy with options of your own, or copy
//   ROCKTUNE_GOVERNOR too and call Attach or Recover on the copy.
class CompactionGovernor {
 public:
  // Returns InvalidArgument, with the reason, if `options` are out of range; OK otherwise.
  static rocksdb::Status Check(const GovernorOptions& options);
  // Creates a governor. Fails as Check does.
  static rocksdb::Status Create(const GovernorOptions& options,
                                std::unique_ptr<CompactionGovernor>* governor);

  // Detaches from every database without waiting for compactions. Options that cannot be restored stay as
  // they are; Recover restores them.
  virtual ~CompactionGovernor() = default;
  CompactionGovernor(const CompactionGovernor&) = delete;
  CompactionGovernor& operator=(const CompactionGovernor&) = delete;

  // Adds the governor's rate limiter and listeners to the options of a database that is to be attached.
  // Adds statistics of tickers only if the options have none; the governor needs them to see the WAL and
  // reads.
  virtual void Prepare(rocksdb::Options* options) const = 0;
  // Returns the rate limiter that Prepare adds.
  virtual std::shared_ptr<rocksdb::RateLimiter> rate_limiter() const = 0;

  // Starts to govern column families; the default one if `families` is empty. Raises the triggers that slow
  // or stop writes to the debt's bounds, and switches compactions on that a governor of a killed process had
  // switched off. REQUIRES: Detach is called before the database is closed or a family is dropped.
  // On failure nothing has changed. Returns
  // - InvalidArgument if the database was opened without this governor's limiter, a column family is attached
  //   already, or debt_runs is too small for one;
  // - the error of finding the device's bandwidth, such as NoSpace;
  // - NotSupported for a database opened read-only, and for compaction styles other than leveled and
  //   universal: FIFO has no debt, and style None is for stores that compact by themselves (FlsmStore);
  // - Corruption if ROCKTUNE_GOVERNOR cannot be parsed;
  // - the error of the Env or of SetOptions.
  virtual rocksdb::Status Attach(rocksdb::DB* db,
                                 const std::vector<rocksdb::ColumnFamilyHandle*>& families = {}) = 0;

  // Stops governing a database: restores the options that its column families had when they were attached,
  // or that the application has set since; compactions that the application switched off stay off. First
  // waits for a running level-0 merge, which finishes unthrottled. Then lets compactions run without limits,
  // with the triggers still raised, until the original triggers would not slow writes, for at most `max_wait`
  // of real time. Other databases stay governed meanwhile. Returns OK if nothing is attached, and otherwise
  // - the first error of restoring options; that column family stays attached, so the call can be retried;
  // - Incomplete, with the number of level-0 files, if `max_wait` did not suffice: the options are restored,
  //   and writes are slowed or stopped until level 0 is compacted.
  virtual rocksdb::Status Detach(rocksdb::DB* db, std::chrono::milliseconds max_wait) = 0;

  // Stops governing one column family, as Detach does but without waiting for its compactions. To be called
  // before the family is dropped or its handle destroyed; GovernedDb does so. Returns OK if it is not
  // attached, and else the error of restoring its options, with which it stays attached.
  virtual rocksdb::Status DetachFamily(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) = 0;

  // Restores the original options of column families that a governor of a killed process had changed; the
  // default one if `families` is empty. Changes nothing in a family that does not have a governor's triggers.
  // Use it in a program that opens a database with the options of its OPTIONS file and attaches no governor.
  // Writes are slowed or stopped until level 0 is compacted, if it has many files.
  // REQUIRES: no governor is attached to the database.
  // Returns NotSupported for a database opened read-only, Corruption if ROCKTUNE_GOVERNOR cannot be parsed,
  // or the error of the Env or of SetOptions.
  static rocksdb::Status Recover(rocksdb::DB* db,
                                 const std::vector<rocksdb::ColumnFamilyHandle*>& families = {});

  // Ends all limiting for good: compactions that wait go on, and no limit is set again. Options stay as they
  // are. Does not wait. For an emergency exit, when writes wait for compactions and the clock stands still.
  virtual void StopLimiting() = 0;

  // Returns the options, with 0 replaced by the values that stand for it; not the device's bandwidth and what
  // follows from it if the governor finds it, for which see Counters.
  virtual const GovernorOptions& options() const = 0;
  // Returns what the governor has done so far. Does not wait for changes of options in progress.
  virtual GovernorCounters Counters() const = 0;
  // Returns the counters in Prometheus' text format.
  virtual std::string PrometheusText() const = 0;

 protected:
  CompactionGovernor() = default;
};

}  // namespace rocktune
