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
#include "rocktune/governor/governed_families.h"
#include "rocktune/governor/governed_rate_limiter.h"
#include "rocktune/governor/governor_policy.h"
#include "rocktune/governor/level0_merger.h"

namespace rocktune {

// The governor of CompactionGovernor::Create.
class GovernorImpl : public CompactionGovernor {
 public:
  // REQUIRES: `options` pass CompactionGovernor::Check and hold no 0 that stands for another value.
  explicit GovernorImpl(const GovernorOptions& options);
  ~GovernorImpl() override;

  void Prepare(rocksdb::Options* options) const override;
  std::shared_ptr<rocksdb::RateLimiter> rate_limiter() const override { return limiter_; }
  rocksdb::Status Attach(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& families) override;
  rocksdb::Status Detach(rocksdb::DB* db, std::chrono::milliseconds max_wait) override;
  void StopLimiting() override { limiter_->Lift(); }
  const GovernorOptions& options() const override { return options_; }
  GovernorCounters Counters() const override;
  std::string PrometheusText() const override;

 private:
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
