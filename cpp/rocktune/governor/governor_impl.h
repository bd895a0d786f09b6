#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/compaction_governor.h"
#include "rocktune/governor/governed_device.h"
#include "rocktune/governor/governed_families.h"
#include "rocktune/governor/governed_rate_limiter.h"
#include "rocktune/governor/governor_policy.h"
#include "rocktune/governor/level0_merger.h"

namespace rocktune {

// The governor that CompactionGovernor::Create returns: limiter, listeners, attached families and the thread
// that applies the policy.
//
// Threads: the public functions may be called by any thread. The policy thread changes options and the limit;
// Level0Merger has the second thread. Attach, Detach and the policy thread hold mutex_ while they set
// options, which may wait for writes; Counters, PrometheusText and StopLimiting never take it.
class GovernorImpl : public CompactionGovernor {
 public:
  // Starts the threads. REQUIRES: CompactionGovernor::Check accepts `options`, max_flush_bytes_per_s is
  // not 0 if the device's bandwidth is given, and neither clock nor device_read_bytes is null.
  explicit GovernorImpl(const GovernorOptions& options);
  ~GovernorImpl() override;

  void Prepare(rocksdb::Options* options) const override;
  std::shared_ptr<rocksdb::RateLimiter> rate_limiter() const override { return limiter_; }
  rocksdb::Status Attach(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& families) override;
  rocksdb::Status Detach(rocksdb::DB* db, std::chrono::milliseconds max_wait) override;
  rocksdb::Status DetachFamily(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) override;
  void StopLimiting() override { limiter_->StopLimiting(); }
  const GovernorOptions& options() const override { return options_; }
  GovernorCounters Counters() const override;
  std::string PrometheusText() const override;

 private:
  // Counters at one time, summed over the attached databases.
  struct Totals {
    uint64_t time_ns = 0;
    DeviceCounters device;
    uint64_t wal_bytes = 0;
    uint64_t read_bytes = 0;         // read from tables, by users and compactions
    uint64_t device_read_bytes = 0;  // by GovernorOptions::device_read_bytes
    DrainCounts drains;
  };

  // Lets a database's compactions run without limit until its original options would not slow writes, or
  // `max_wait` has passed. Returns the debt that is left beyond that, as text; empty if there is none.
  // Releases `lock`, which holds mutex_, while it waits.
  std::string WaitForCompactions(const rocksdb::DB* db, std::chrono::milliseconds max_wait,
                                 std::unique_lock<std::mutex>* lock);

  // The functions from here on REQUIRE that mutex_ is held; RunPolicy, the policy thread, takes it.
  void RunPolicy();
  // Sets the limit of compactions from the I/O since its last call.
  void UpdateLimit();
  // Ends an interval: samples it, decides, changes options, counts, and calls on_decision.
  void Decide();
  // Begins a new interval after families were detached, without the state of the last family.
  void Restart();
  // Reads the clock, the limiter's counters and the tickers of the attached databases.
  Totals ReadTotals() const;
  // True if the time between the readings says nothing about rates: it is not above 0, or far above an
  // interval.
  bool ClockJumped(const Totals& before, const Totals& now) const;
  // Returns the I/O between two readings, with the present debt. REQUIRES: now.time_ns > before.time_ns.
  GovernorSample SampleSince(const Totals& before, const Totals& now) const;
  // Switches compactions off or on for each family, and records that in `decision`. Returns the number of
  // changes that failed.
  uint64_t Apply(const GovernorSample& sample, GovernorDecision* decision);
  // True if the mode has a family's own compactions off after this interval.
  bool SwitchesOff(GovernedFamily* family);
  // True if a family's own compactions must be off for level-0 merges. Schedules such merges if the family
  // has many level-0 tables.
  bool PausesForMerges(GovernedFamily* family);

  const GovernorOptions options_;
  const std::shared_ptr<rocksdb::SystemClock> clock_;
  const std::shared_ptr<GovernedRateLimiter> limiter_;
  const std::shared_ptr<rocksdb::EventListener> roles_;
  const std::shared_ptr<ManifestGuard> guard_;

  // Guards counters_ alone, so that Counters does not wait for changes of options. Never held during I/O.
  mutable std::mutex counters_mutex_;
  GovernorCounters counters_;

  // Guards the members below. Held while options are set; RocksDB's threads never take it, since the governor
  // may wait for them.
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  GovernedDevice device_;
  GovernorLimits limits_;  // the device's bandwidth is 0 while it is to be found
  GovernedFamilies families_;
  ToggleState toggle_;            // in mode kToggle
  bool drains_off_ = false;       // the last result of NextDrains, in mode kDrains
  bool compactions_off_ = false;  // true if they are off in any column family
  Totals interval_start_;         // reading at the last Decide
  Totals limit_start_;            // reading at the last UpdateLimit
  Level0Merger merger_{guard_};
  std::thread thread_;  // last, since the policy thread uses the other members
};

}  // namespace rocktune
