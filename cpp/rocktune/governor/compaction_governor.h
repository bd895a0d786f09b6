#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/status.h>
#include <rocksdb/system_clock.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/governor/governed_rate_limiter.h"
#include "rocktune/governor/governor_policy.h"
#include "rocktune/governor/level0_merger.h"

namespace rocktune {

class GovernedFamily;

// What a governor does about compactions while writes peak.
enum class GovernorMode {
  kProportional,  // gives them what others leave of the device, running ones too
  kToggle,        // likewise, and switches them off and on (Warlo's auto-tuner)
};

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

struct GovernorOptions {
  GovernorMode mode = GovernorMode::kProportional;
  // What reads and writes may take of the device together. Required.
  uint64_t device_bytes_per_s = 0;
  // What flushes reach while nothing but the log writes beside them; 0 for half the device.
  uint64_t max_flush_bytes_per_s = 0;
  // How much compaction may owe: bytes still to be rewritten, and tables of level 0, each of which a lookup
  // may have to read. Writes are slowed down from three quarters of a bound, and stop at it. 0: no bound.
  // RocksDB's own options stop writes at as many bytes.
  uint64_t debt_bytes = uint64_t{256} << 30;
  uint64_t debt_runs = 1000;
  // Between two decisions whether compactions are to be off, and two reports. What they may take of the
  // device follows the load ten times as often.
  uint64_t interval_us = 10'000'000;
  ToggleWatermarks watermarks;  // of the toggle
  // What compactions may always take of the device, from above 0 to 1. Proportional only.
  double least_compaction_share = 0.02;
  // Whether tables of level 0 are merged with each other while it has more of them than the column family's
  // own options let it have without slowing writes. Costs one more writing of them; a lookup then reads tens
  // of tables after a peak where it read hundreds. Proportional only.
  bool merge_level0 = true;
  // Called on the governor's thread after every interval. Must not throw, nor attach or detach.
  std::function<void(const GovernorDecision&)> on_decision;
  // What time is; RocksDB's default clock if null.
  std::shared_ptr<rocksdb::SystemClock> clock;
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

// Keeps compactions from taking the device from writes while these peak, and lets them catch up afterwards.
//
//     std::unique_ptr<rocktune::CompactionGovernor> governor;
//     rocktune::CompactionGovernor::Create({.device_bytes_per_s = 400'000'000}, &governor);
//     governor->Prepare(&options);    // its rate limiter, its listeners, statistics
//     rocksdb::DB::Open(options, path, &db);
//     governor->Attach(db);
//     ...
//     governor->Detach(db);           // before the database is closed
//
// One governor may serve several databases and column families that share a device. It has two threads: one
// on which alone options are changed, and one for merges within level 0. Thread-safe. Throws nothing.
class CompactionGovernor {
 public:
  // InvalidArgument, which says what is wrong, unless a governor can be made of the options.
  static rocksdb::Status Check(const GovernorOptions& options);
  // Fails as Check does.
  static rocksdb::Status Create(const GovernorOptions& options,
                                std::unique_ptr<CompactionGovernor>* governor);

  // Detaches from every database; what fails then stays as it is.
  ~CompactionGovernor();
  CompactionGovernor(const CompactionGovernor&) = delete;
  CompactionGovernor& operator=(const CompactionGovernor&) = delete;

  // Puts rate limiter and listeners into the options of a database that is to be attached, and statistics of
  // tickers alone where it has none, which tell how much goes to the log and to users' reads.
  void Prepare(rocksdb::Options* options) const;
  std::shared_ptr<rocksdb::RateLimiter> rate_limiter() const { return limiter_; }

  // Takes column families into care, the default one if none is named. Raises their triggers that slow writes
  // to the debt's bound. REQUIRES: Detach before the database or a column family is closed or dropped.
  // Fails with InvalidArgument where the database was opened without this governor's limiter or a column
  // family is attached already, and with what SetOptions said; then nothing is changed.
  rocksdb::Status Attach(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& families = {});

  // Gives the column families of a database back with the options that they came with; what had changed these
  // meanwhile is overwritten, but for compactions that were switched off by others. A merge within level 0 is
  // waited for, which goes on at full speed. Compactions run without limits once nothing is attached. Returns
  // the first failure: that column family stays attached, so that it can be tried again. OK if nothing is
  // attached.
  rocksdb::Status Detach(rocksdb::DB* db);

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
  std::vector<std::unique_ptr<GovernedFamily>> families_;
  ToggleState toggle_;
  bool compactions_off_ = false;  // of any column family
  Totals before_;                 // when the interval began
  Totals limited_;                // when the limit was set
  Level0Merger merger_{guard_};
  std::thread thread_;
};

}  // namespace rocktune
