#include "rocktune/governor/governor_impl.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "rocktune/governor/governor_counters.h"
#include "rocktune/io_cause.h"

namespace rocktune {
namespace {

// Bounds of the real time between two readings of the clock, which may stand still or jump.
constexpr std::chrono::milliseconds kMaxPoll{20};
constexpr std::chrono::milliseconds kMinPoll{1};
constexpr uint64_t kLimitUpdatesPerInterval = 10;
// An interval longer than this many times its configured length says nothing about rates.
constexpr double kClockJumpFactor = 10;
constexpr double kNanosPerSecond = 1e9;

uint64_t Bytes(const DeviceCounters& counters, IoCause cause) {
  return counters.bytes[static_cast<std::size_t>(cause)];
}

// Returns the bucket of mode kDrains and null in the other modes.
std::unique_ptr<DrainBucket> NewBucket(const GovernorOptions& options) {
  return options.mode == GovernorMode::kDrains
             ? std::make_unique<DrainBucket>(options.max_flush_bytes_per_s, RefillMicros(options.interval_us),
                                             options.clock)
             : nullptr;
}

// Returns the difference, or 0 if it is negative: applications may reset their statistics.
uint64_t DifferenceOrZero(uint64_t before, uint64_t now) { return now > before ? now - before : 0; }

}  // namespace

GovernorImpl::GovernorImpl(const GovernorOptions& options)
    : options_(options),
      clock_(options.clock),
      limiter_(std::make_shared<GovernedRateLimiter>(static_cast<int64_t>(options.device_bytes_per_s),
                                                     options.clock, NewBucket(options))),
      roles_(NewThreadRoleListener()),
      guard_(std::make_shared<ManifestGuard>()),
      device_(options, limiter_),
      limits_{options.device_bytes_per_s, std::max<uint64_t>(1, options.max_flush_bytes_per_s),
              options.debt_bytes, options.debt_runs, options.min_compaction_share},
      thread_([this] { RunPolicy(); }) {}

GovernorImpl::~GovernorImpl() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  // First: changes of options wait for writes, which may wait for compactions that the limit holds up.
  limiter_->StopLimiting();
  ending_.notify_all();
  thread_.join();
  for (rocksdb::DB* db : families_.Databases()) {
    merger_.Detach(db);
    families_.Detach(db).PermitUncheckedError();
  }
}

void GovernorImpl::Prepare(rocksdb::Options* options) const {
  options->rate_limiter = limiter_;
  options->listeners.push_back(roles_);
  options->listeners.push_back(guard_);
  if (options->statistics == nullptr) {
    options->statistics = rocksdb::CreateDBStatistics();
    options->statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  }
}

rocksdb::Status GovernorImpl::Attach(rocksdb::DB* db,
                                     const std::vector<rocksdb::ColumnFamilyHandle*>& families) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (db->GetDBOptions().rate_limiter != limiter_) {
    return rocksdb::Status::InvalidArgument(
        "the database was opened without this governor's rate limiter; call Prepare on its options before "
        "opening it");
  }
  rocksdb::Status status = families_.Check(db, families, limits_);
  if (status.ok()) {
    status = device_.FindBandwidth(db, &limits_);
  }
  if (status.ok()) {
    status = families_.Attach(db, families, limits_);
  }
  if (status.ok()) {
    interval_start_ = limit_start_ = ReadTotals();
  }
  return status;
}

rocksdb::Status GovernorImpl::Detach(rocksdb::DB* db, std::chrono::milliseconds max_wait) {
  std::unique_lock<std::mutex> lock(mutex_);
  // So that the wait is for the options that are then restored. Failures come back when they are restored.
  families_.AdoptChanges(limits_).PermitUncheckedError();
  const std::string owed = WaitForCompactions(db, max_wait, &lock);
  rocksdb::Status status = families_.Detach(db);
  for (GovernedFamily* each : families_.OfDatabase(db)) {
    each->detaching = false;
  }
  Restart();
  return status.ok() && !owed.empty() ? rocksdb::Status::Incomplete(owed) : status;
}

rocksdb::Status GovernorImpl::DetachFamily(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!families_.Contains(db, family)) {
    return rocksdb::Status::OK();
  }
  // As in Detach: changes of options wait for writes, which may wait for compactions that the limit holds up.
  limiter_->SetCompactionBytesPerSecond(0);
  merger_.Detach(db);  // merges in other families are scheduled again
  rocksdb::Status status = families_.Detach(db, family);
  Restart();
  return status;
}

void GovernorImpl::Restart() {
  if (families_.empty()) {
    toggle_ = ToggleState();
    drains_off_ = false;
    compactions_off_ = false;
  }
  interval_start_ = limit_start_ = ReadTotals();
}

std::string GovernorImpl::WaitForCompactions(const rocksdb::DB* db, std::chrono::milliseconds max_wait,
                                             std::unique_lock<std::mutex>* lock) {
  const auto begin = std::chrono::steady_clock::now();
  // First: changes of options wait for writes, which may wait for compactions that the limit holds up. The
  // policy thread sets the limit again within an interval if other databases are attached.
  limiter_->SetCompactionBytesPerSecond(0);
  merger_.Detach(db);
  for (GovernedFamily* each : families_.OfDatabase(db)) {
    each->detaching = true;
    each->SetCompactionsOff(false, limits_).PermitUncheckedError();
  }
  while (true) {
    std::string owed;
    for (const GovernedFamily* each : families_.OfDatabase(db)) {
      owed = owed.empty() ? each->DescribeExcessDebt() : owed;
    }
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (owed.empty() || std::chrono::duration_cast<std::chrono::milliseconds>(waited) >= max_wait) {
      return owed;
    }
    ending_.wait_for(*lock, kMaxPoll);
  }
}

void GovernorImpl::RunPolicy() {
  const uint64_t interval_ns = options_.interval_us * 1000;
  const uint64_t update_ns = interval_ns / kLimitUpdatesPerInterval;
  const auto poll =
      std::clamp<std::chrono::nanoseconds>(std::chrono::nanoseconds(update_ns), kMinPoll, kMaxPoll);
  const auto passed = [this](const Totals& since, uint64_t length_ns) {
    const uint64_t now_ns = clock_->NowNanos();
    return now_ns < since.time_ns || now_ns - since.time_ns >= length_ns;
  };
  std::unique_lock<std::mutex> lock(mutex_);
  interval_start_ = limit_start_ = ReadTotals();
  while (!ended_) {
    ending_.wait_for(lock, poll);
    if (!ended_ && passed(limit_start_, update_ns)) {
      UpdateLimit();
    }
    if (!ended_ && passed(interval_start_, interval_ns)) {
      Decide();
    }
  }
}

bool GovernorImpl::ClockJumped(const Totals& before, const Totals& now) const {
  return now.time_ns <= before.time_ns ||
         static_cast<double>(now.time_ns - before.time_ns) >
             kClockJumpFactor * static_cast<double>(options_.interval_us) * 1000;
}

void GovernorImpl::UpdateLimit() {
  const Totals now = ReadTotals();
  const Totals before = std::exchange(limit_start_, now);
  const auto is_detaching = [](const std::unique_ptr<GovernedFamily>& each) { return each->detaching; };
  if (!std::all_of(families_.begin(), families_.end(), is_detaching) && !ClockJumped(before, now)) {
    device_.UpdateReadShare(DifferenceOrZero(before.read_bytes, now.read_bytes), before.device_read_bytes,
                            now.device_read_bytes);
    if (options_.mode != GovernorMode::kDrains) {
      limiter_->SetCompactionBytesPerSecond(
          rocktune::CompactionBytesPerSecond(SampleSince(before, now), limits_));
    }
    // Often, since a kill before it would leave triggers that are neither the application's nor recognized as
    // a governor's. Decide repeats and reports what fails here.
    families_.AdoptChanges(limits_).PermitUncheckedError();
  }
}

GovernorImpl::Totals GovernorImpl::ReadTotals() const {
  Totals totals;
  totals.time_ns = clock_->NowNanos();
  totals.device = limiter_->Counters();
  totals.device_read_bytes = device_.ReadBytes();
  totals.drains = limiter_->Drains();
  std::vector<const rocksdb::Statistics*> seen;  // databases may share one, to be counted once
  for (const std::unique_ptr<GovernedFamily>& each : families_) {
    const std::shared_ptr<rocksdb::Statistics> statistics = each->db()->GetDBOptions().statistics;
    if (statistics == nullptr || std::find(seen.begin(), seen.end(), statistics.get()) != seen.end()) {
      continue;
    }
    seen.push_back(statistics.get());
    totals.wal_bytes += statistics->getTickerCount(rocksdb::WAL_FILE_BYTES);
    totals.read_bytes += statistics->getTickerCount(rocksdb::LAST_LEVEL_READ_BYTES) +
                         statistics->getTickerCount(rocksdb::NON_LAST_LEVEL_READ_BYTES);
  }
  return totals;
}

GovernorSample GovernorImpl::SampleSince(const Totals& before, const Totals& now) const {
  const auto bytes = [&](IoCause cause) {
    return DifferenceOrZero(Bytes(before.device, cause), Bytes(now.device, cause));
  };
  GovernorSample sample;
  sample.seconds = static_cast<double>(now.time_ns - before.time_ns) / kNanosPerSecond;
  sample.flush_bytes = bytes(IoCause::kFlush);
  sample.compaction_read_bytes = bytes(IoCause::kCompactionRead);
  sample.compaction_write_bytes = bytes(IoCause::kCompactionWrite);
  sample.wal_bytes = DifferenceOrZero(before.wal_bytes, now.wal_bytes);
  // RocksDB has no ticker of users' reads alone.
  const uint64_t user_bytes =
      DifferenceOrZero(sample.compaction_read_bytes, DifferenceOrZero(before.read_bytes, now.read_bytes));
  sample.user_read_bytes =
      static_cast<uint64_t>(static_cast<double>(user_bytes) * limiter_->DeviceReadShare());
  sample.flush_drains = now.drains.flushes - before.drains.flushes;
  sample.compaction_drains = now.drains.compactions - before.drains.compactions;
  for (const std::unique_ptr<GovernedFamily>& each : families_) {
    each->AddDebt(&sample);
  }
  return sample;
}

void GovernorImpl::Decide() {
  const Totals now = ReadTotals();
  const Totals before = std::exchange(interval_start_, now);
  if (ClockJumped(before, now)) {
    const std::lock_guard<std::mutex> lock(counters_mutex_);
    ++counters_.discarded_intervals;
    return;
  }
  GovernorDecision decision;
  decision.time_us = now.time_ns / 1000;
  decision.sample = SampleSince(before, now);
  if (!families_.empty()) {
    device_.RaiseBandwidth((*families_.begin())->db(), decision.sample, &limits_);
  }
  decision.flush_share = FlushShare(decision.sample, limits_);
  decision.total_share = TotalShare(decision.sample, limits_);
  decision.debt_share = DebtShare(decision.sample, limits_);
  const bool was_off = compactions_off_;
  uint64_t failed = 0;
  if (!families_.empty()) {
    decision.status = families_.AdoptChanges(limits_);
    failed = decision.status.ok() ? 0 : 1;
    failed += Apply(decision.sample, &decision);
    compactions_off_ = decision.compactions_off;
  }
  {
    const std::lock_guard<std::mutex> lock(counters_mutex_);
    ++counters_.intervals;
    counters_.failed_changes += failed;
    counters_.switched_off += !was_off && decision.compactions_off ? 1 : 0;
    counters_.switched_on += was_off && !decision.compactions_off ? 1 : 0;
    counters_.last = decision;
  }
  if (options_.on_decision) {
    options_.on_decision(decision);
  }
}

uint64_t GovernorImpl::Apply(const GovernorSample& sample, GovernorDecision* decision) {
  decision->compaction_bytes_per_s = limiter_->CompactionBytesPerSecond();
  if (options_.mode == GovernorMode::kToggle) {
    toggle_ = NextToggle(toggle_, sample, limits_, options_.watermarks);
  } else if (options_.mode == GovernorMode::kDrains) {
    drains_off_ = NextDrains(drains_off_, sample, options_.interval_us, options_.watermarks);
  }
  uint64_t failed = 0;
  for (const std::unique_ptr<GovernedFamily>& each : families_) {
    const bool off = !each->detaching && SwitchesOff(each.get());
    // Called even if the decision is unchanged: a change that failed before is retried.
    rocksdb::Status status = each->SetCompactionsOff(off, limits_);
    failed += status.ok() ? 0 : 1;
    decision->compactions_off = decision->compactions_off || off;
    if (decision->status.ok()) {
      decision->status = std::move(status);
    }
  }
  return failed;
}

bool GovernorImpl::SwitchesOff(GovernedFamily* family) {
  switch (options_.mode) {
    case GovernorMode::kToggle:
      return toggle_.compactions_off;
    case GovernorMode::kDrains:
      return drains_off_;
    case GovernorMode::kProportional:
      break;
  }
  return PausesForMerges(family);
}

bool GovernorImpl::PausesForMerges(GovernedFamily* family) {
  const bool merging =
      options_.merge_level0 && family->HasManyRuns() && merger_.CanMerge(family->db(), family->family());
  if (merging) {
    merger_.ScheduleMerge(family->db(), family->family());
  }
  GovernorSample owed;
  family->AddDebt(&owed);
  family->paused_for_merges = ShouldPauseForMerges(family->paused_for_merges, merging, owed, limits_);
  return family->paused_for_merges;
}

GovernorCounters GovernorImpl::Counters() const {
  GovernorCounters counters;
  {
    const std::lock_guard<std::mutex> lock(counters_mutex_);
    counters = counters_;
  }
  counters.device = limiter_->Counters();
  counters.device_bytes_per_s = static_cast<uint64_t>(limiter_->GetBytesPerSecond());
  counters.device_read_share = limiter_->DeviceReadShare();
  counters.compaction_waited_ns = limiter_->WaitedNanos();
  counters.level0_merges = merger_.merges();
  counters.level0_merged_tables = merger_.merged_tables();
  return counters;
}

std::string GovernorImpl::PrometheusText() const { return rocktune::PrometheusText(Counters()); }

}  // namespace rocktune
