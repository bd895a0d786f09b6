#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/status.h>
#include <rocksdb/system_clock.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/governor/governed_families.h"
#include "rocktune/governor/governed_rate_limiter.h"
#include "rocktune/governor/governor_counters.h"
#include "rocktune/governor/governor_policy.h"
#include "rocktune/governor/level0_merger.h"

namespace rocktune {

// What a governor does about compactions while writes peak.
enum class GovernorMode {
  kProportional,  // gives them what others leave of the device, running ones too
  kToggle,        // likewise, and switches them off and on (Warlo's auto-tuner)
};

struct GovernorOptions {
  GovernorMode mode = GovernorMode::kProportional;
  // What reads and writes may take of the device together. Required.
  uint64_t device_bytes_per_s = 0;
  // What flushes reach while nothing but the log writes beside them; 0 for half the device.
  uint64_t max_flush_bytes_per_s = 0;
  // How much compaction may owe: bytes still to be rewritten, and tables of level 0, each of which a lookup
  // may have to read. Writes are slowed down from three quarters of a bound, and stop at it. 0: no bound.
  // RocksDB's own options stop writes at as many bytes. Three quarters of debt_runs must be above each column
  // family's level0_file_num_compaction_trigger, which Attach checks.
  uint64_t debt_bytes = uint64_t{256} << 30;
  uint64_t debt_runs = 1000;
  // Between two decisions whether compactions are to be off, and two reports. What they may take of the
  // device follows the load ten times as often.
  uint64_t interval_us = 10'000'000;
  ToggleWatermarks watermarks;  // of the toggle
  // What compactions may always take of the device, from above 0 to 1. Proportional only.
  double min_compaction_share = 0.02;
  // Whether tables of level 0 are merged with each other while it has more of them than the column family's
  // own options let it have without slowing writes. Costs one more writing of them; a lookup then reads tens
  // of tables after a peak where it read hundreds. Proportional only. RocksDB before epoch numbers (7.10)
  // orders level 0 by sequence numbers; there ingested files, and flushed ones of a single entry, which look
  // the same, are not merged.
  bool merge_level0 = true;
  // Called on the governor's thread after every interval. Must not throw, nor attach or detach.
  std::function<void(const GovernorDecision&)> on_decision;
  // What time is; RocksDB's default clock if null.
  std::shared_ptr<rocksdb::SystemClock> clock;
};

// Keeps compactions from taking the device from writes while these peak, and lets them catch up afterwards.
//
//     std::unique_ptr<rocktune::CompactionGovernor> governor;
//     rocktune::CompactionGovernor::Create({.device_bytes_per_s = 400'000'000}, &governor);
//     governor->Prepare(&options);    // its rate limiter, its listeners, statistics
//     rocksdb::DB::Open(options, path, &db);
//     governor->Attach(db);
//     ...
//     governor->Detach(db, 10s);      // before the database is closed
//
// One governor may serve several databases and column families that share a device. It has two threads: one
// that changes options between Attach and Detach, and one for merges within level 0. Thread-safe. Throws
// nothing.
//
// RocksDB writes what a governor changes into the database's OPTIONS file. From Attach to Detach the file
// ROCKTUNE_GOVERNOR of the database's directory keeps the original options:
// - After a kill or a power cut, a program that loads its options from the OPTIONS file opens the database
//   with the governor's, perhaps with compactions off. The next Attach takes the original ones from
//   ROCKTUNE_GOVERNOR. A program that attaches no governor calls Recover, or sets what the file tells.
// - A program that opens the database with options of its own keeps them. The file counts only where a column
//   family still has triggers that a governor sets; the next Attach replaces it otherwise.
// - After a kill, compactions that others had switched off between Attach and the kill are on again.
// - A copy (Checkpoint, BackupEngine) made between Attach and Detach has the governor's options in its file
//   OPTIONS, perhaps compactions off, and no ROCKTUNE_GOVERNOR. Detach before copying, open the copy with
//   options of your own, or copy ROCKTUNE_GOVERNOR into it as well and call Attach or Recover.
class CompactionGovernor {
 public:
  // InvalidArgument, which says what is wrong, unless a governor can be made of the options.
  static rocksdb::Status Check(const GovernorOptions& options);
  // Fails as Check does.
  static rocksdb::Status Create(const GovernorOptions& options,
                                std::unique_ptr<CompactionGovernor>* governor);

  // Detaches from every database without waiting for compactions. What fails then stays as it is; Recover
  // mends it.
  ~CompactionGovernor();
  CompactionGovernor(const CompactionGovernor&) = delete;
  CompactionGovernor& operator=(const CompactionGovernor&) = delete;

  // Puts rate limiter and listeners into the options of a database that is to be attached, and statistics of
  // tickers alone where it has none, which tell how much goes to the log and to users' reads.
  void Prepare(rocksdb::Options* options) const;
  std::shared_ptr<rocksdb::RateLimiter> rate_limiter() const { return limiter_; }

  // Takes column families into care, the default one if none is named. Raises their triggers that slow writes
  // to the debt's bound, and switches compactions on that a governor of a killed process had switched off.
  // REQUIRES: Detach before the database or a column family is closed or dropped.
  // Fails, and changes nothing, with
  // - InvalidArgument where the database was opened without this governor's limiter, a column family is
  //   attached already, or debt_runs is too few for one;
  // - NotSupported for a database that is read alone, and for compaction styles but leveled and universal:
  //   FIFO has no debt, and style None is for stores that compact by themselves, such as an FlsmStore;
  // - Corruption where ROCKTUNE_GOVERNOR cannot be understood;
  // - what the Env or SetOptions said.
  rocksdb::Status Attach(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& families = {});

  // Gives the column families of a database back with the options that they came with; later changes of these
  // are overwritten, but for compactions that others have switched off. First lets compactions run without
  // limits and with the raised triggers, for at most `max_wait` of real time, until the options that they
  // came with would not slow writes. Before that waits for a merge within level 0, which goes on at full
  // speed. Other databases stay governed meanwhile. OK if nothing is attached. Otherwise returns
  // - the first failure to restore options: that column family stays attached, so that it can be tried again;
  // - Incomplete, which tells the number of files in level 0, where more is owed still: all is restored, and
  //   writes are slowed or stop until it is compacted.
  rocksdb::Status Detach(rocksdb::DB* db, std::chrono::milliseconds max_wait);

  // Gives column families, the default one if none is named, the options back that a governor of a killed
  // process had changed, if they still have its; changes nothing otherwise. For a program that opens a
  // database with the options of its OPTIONS file and attaches no governor. Writes are slowed or stop until
  // level 0 is compacted, if it has many files. REQUIRES: no governor is attached. Fails with NotSupported
  // for a database that is read alone, Corruption where ROCKTUNE_GOVERNOR cannot be understood, and with what
  // the Env or SetOptions said.
  static rocksdb::Status Recover(rocksdb::DB* db,
                                 const std::vector<rocksdb::ColumnFamilyHandle*>& families = {});

  // From now on compactions go on without limit, those that wait too, and none is set again; options stay as
  // they are. Waits for nothing: for the way out, when writes wait for compactions and the clock stands
  // still.
  void StopLimiting() { limiter_->Lift(); }

  // With what was left to it filled in.
  const GovernorOptions& options() const { return options_; }
  // Waits for no change of options, which itself may wait for writes.
  GovernorCounters Counters() const;
  // The same as Prometheus' text format.
  std::string PrometheusText() const;

 private:
  explicit CompactionGovernor(const GovernorOptions& options);

  struct Totals {
    uint64_t time_ns = 0;
    DeviceCounters device;
    uint64_t wal_bytes = 0;
    uint64_t read_bytes = 0;  // from tables, by anyone
  };

  // Lets compactions of a database run until its original options would not slow writes. Returns what is owed
  // beyond that in the end; empty if nothing is. Gives the lock away while it waits.
  std::string WaitForCompactions(const rocksdb::DB* db, std::chrono::milliseconds max_wait,
                                 std::unique_lock<std::mutex>* lock);

  void Work();
  // Ten times an interval.
  void Limit();
  // At the end of an interval.
  void Decide();
  Totals TakeTotals() const;
  bool ClockJumped(const Totals& before, const Totals& now) const;
  GovernorSample SampleSince(const Totals& before, const Totals& now) const;
  // Returns how many changes failed.
  uint64_t Apply(const GovernorSample& sample, GovernorDecision* decision);
  // Whether a column family's own compactions are to pause for merges within level 0, which it sets off.
  bool Gathers(GovernedFamily* family);

  const GovernorOptions options_;
  const GovernorLimits limits_;
  const std::shared_ptr<rocksdb::SystemClock> clock_;
  const std::shared_ptr<GovernedRateLimiter> limiter_;
  const std::shared_ptr<rocksdb::EventListener> roles_;
  const std::shared_ptr<ManifestGuard> guard_;

  mutable std::mutex counters_mutex_;  // guards counters_ alone; never held for long
  GovernorCounters counters_;

  std::mutex mutex_;  // guards what follows; held while options are set, never by RocksDB's threads
  std::condition_variable ending_;
  bool ended_ = false;
  GovernedFamilies families_;
  ToggleState toggle_;
  bool compactions_off_ = false;  // of any column family
  Totals before_;                 // when the interval began
  Totals limited_;                // when the limit was set
  Level0Merger merger_{guard_};
  std::thread thread_;
};

}  // namespace rocktune
