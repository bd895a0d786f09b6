#include "rocktune/governor/governor_impl.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "rocktune/governor/governor_counters.h"
#include "rocktune/io_cause.h"

namespace rocktune {
namespace {

// The clock may be one that stands still or jumps, so it is looked at this often in real time.
constexpr std::chrono::milliseconds kLook{20};
constexpr std::chrono::milliseconds kShortestLook{1};
constexpr uint64_t kPartsOfInterval = 10;
// An interval that took so many times its length by the clock says nothing about rates.
constexpr double kJump = 10;
constexpr double kNanosPerSecond = 1e9;

uint64_t Of(const DeviceCounters& counters, IoCause cause) {
  return counters.bytes[static_cast<std::size_t>(cause)];
}

// Counters of several databases may be reset by their users.
uint64_t Since(uint64_t before, uint64_t now) { return now > before ? now - before : 0; }

GovernorOptions Completed(const GovernorOptions& given) {
  GovernorOptions options = given;
  if (options.max_flush_bytes_per_s == 0) {
    options.max_flush_bytes_per_s = std::max<uint64_t>(1, options.device_bytes_per_s / 2);
  }
  if (options.clock == nullptr) {
    options.clock = rocksdb::SystemClock::Default();
  }
  return options;
}

}  // namespace

rocksdb::Status CompactionGovernor::Check(const GovernorOptions& options) {
  const auto is_share = [](double share) { return share > 0 && share <= 1; };
  if (options.device_bytes_per_s == 0) {
    return rocksdb::Status::InvalidArgument("device_bytes_per_s: 0; state what the device can do");
  }
  if (options.interval_us == 0) {
    return rocksdb::Status::InvalidArgument("interval_us: must be above 0");
  }
  if (!is_share(options.watermarks.flush_share) || !is_share(options.watermarks.total_share)) {
    return rocksdb::Status::InvalidArgument("watermarks: must be above 0 and at most 1");
  }
  if (!is_share(options.min_compaction_share)) {
    return rocksdb::Status::InvalidArgument("min_compaction_share: must be above 0 and at most 1");
  }
  return rocksdb::Status::OK();
}

rocksdb::Status CompactionGovernor::Create(const GovernorOptions& options,
                                           std::unique_ptr<CompactionGovernor>* governor) {
  rocksdb::Status status = Check(options);
  if (status.ok()) {
    governor->reset(new GovernorImpl(Completed(options)));
  }
  return status;
}

GovernorImpl::GovernorImpl(const GovernorOptions& options)
    : options_(options),
      limits_{options.device_bytes_per_s, options.max_flush_bytes_per_s, options.debt_bytes,
              options.debt_runs, options.min_compaction_share},
      clock_(options.clock),
      limiter_(std::make_shared<GovernedRateLimiter>(static_cast<int64_t>(options.device_bytes_per_s),
                                                     options.clock)),
      roles_(NewThreadRoleListener()),
      guard_(std::make_shared<ManifestGuard>()),
      thread_([this] { Work(); }) {}

GovernorImpl::~GovernorImpl() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  // First, since changes of options wait for writes, and these may wait for compactions.
  limiter_->Lift();
  ending_.notify_all();
  thread_.join();
  for (rocksdb::DB* db : families_.Databases()) {
    merger_.Leave(db);
    families_.GiveBack(db).PermitUncheckedError();
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
    return rocksdb::Status::InvalidArgument("the database was opened without this governor's rate limiter");
  }
  rocksdb::Status status = families_.Take(db, families, limits_);
  if (status.ok()) {
    before_ = limited_ = TakeTotals();
  }
  return status;
}

rocksdb::Status GovernorImpl::Detach(rocksdb::DB* db, std::chrono::milliseconds max_wait) {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::string owed = WaitForCompactions(db, max_wait, &lock);
  rocksdb::Status status = families_.GiveBack(db);
  for (GovernedFamily* each : families_.Of(db)) {
    each->leaving = false;
  }
  if (families_.empty()) {
    toggle_ = ToggleState();
    compactions_off_ = false;
  }
  before_ = limited_ = TakeTotals();
  return status.ok() && !owed.empty() ? rocksdb::Status::Incomplete(owed) : status;
}

std::string GovernorImpl::WaitForCompactions(const rocksdb::DB* db, std::chrono::milliseconds max_wait,
                                             std::unique_lock<std::mutex>* lock) {
  const auto begin = std::chrono::steady_clock::now();
  // First, since changes of options wait for writes, and these may wait for compactions. While others are
  // attached, it is set again soon.
  limiter_->SetCompactionBytesPerSecond(0);
  merger_.Leave(db);
  for (GovernedFamily* each : families_.Of(db)) {
    each->leaving = true;
    each->SetCompactionsOff(false, limits_).PermitUncheckedError();
  }
  while (true) {
    std::string owed;
    for (const GovernedFamily* each : families_.Of(db)) {
      owed = owed.empty() ? each->OwedBeyondOriginals() : owed;
    }
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (owed.empty() || std::chrono::duration_cast<std::chrono::milliseconds>(waited) >= max_wait) {
      return owed;
    }
    ending_.wait_for(*lock, kLook);
  }
}

rocksdb::Status CompactionGovernor::Recover(rocksdb::DB* db,
                                            const std::vector<rocksdb::ColumnFamilyHandle*>& families) {
  return GovernedFamilies::Recover(db, families);
}

void GovernorImpl::Work() {
  const uint64_t interval_ns = options_.interval_us * 1000;
  const uint64_t part_ns = interval_ns / kPartsOfInterval;
  const auto look =
      std::clamp<std::chrono::nanoseconds>(std::chrono::nanoseconds(part_ns), kShortestLook, kLook);
  const auto passed = [this](const Totals& since, uint64_t length_ns) {
    const uint64_t now_ns = clock_->NowNanos();
    return now_ns < since.time_ns || now_ns - since.time_ns >= length_ns;
  };
  std::unique_lock<std::mutex> lock(mutex_);
  before_ = limited_ = TakeTotals();
  while (!ended_) {
    ending_.wait_for(lock, look);
    if (!ended_ && passed(limited_, part_ns)) {
      Limit();
    }
    if (!ended_ && passed(before_, interval_ns)) {
      Decide();
    }
  }
}

bool GovernorImpl::ClockJumped(const Totals& before, const Totals& now) const {
  return now.time_ns <= before.time_ns || static_cast<double>(now.time_ns - before.time_ns) >
                                              kJump * static_cast<double>(options_.interval_us) * 1000;
}

void GovernorImpl::Limit() {
  const Totals now = TakeTotals();
  const Totals before = std::exchange(limited_, now);
  const auto leaves = [](const std::unique_ptr<GovernedFamily>& each) { return each->leaving; };
  if (!std::all_of(families_.begin(), families_.end(), leaves) && !ClockJumped(before, now)) {
    limiter_->SetCompactionBytesPerSecond(
        rocktune::CompactionBytesPerSecond(SampleSince(before, now), limits_));
  }
}

GovernorImpl::Totals GovernorImpl::TakeTotals() const {
  Totals totals;
  totals.time_ns = clock_->NowNanos();
  totals.device = limiter_->Counters();
  std::vector<const rocksdb::Statistics*> seen;  // databases may share them
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
  const auto bytes = [&](IoCause cause) { return Since(Of(before.device, cause), Of(now.device, cause)); };
  GovernorSample sample;
  sample.seconds = static_cast<double>(now.time_ns - before.time_ns) / kNanosPerSecond;
  sample.flush_bytes = bytes(IoCause::kFlush);
  sample.compaction_read_bytes = bytes(IoCause::kCompactionRead);
  sample.compaction_write_bytes = bytes(IoCause::kCompactionWrite);
  sample.wal_bytes = Since(before.wal_bytes, now.wal_bytes);
  sample.user_read_bytes = Since(sample.compaction_read_bytes, Since(before.read_bytes, now.read_bytes));
  for (const std::unique_ptr<GovernedFamily>& each : families_) {
    each->AddDebt(&sample);
  }
  return sample;
}

void GovernorImpl::Decide() {
  const Totals now = TakeTotals();
  const Totals before = std::exchange(before_, now);
  if (ClockJumped(before, now)) {
    const std::lock_guard<std::mutex> lock(counters_mutex_);
    ++counters_.discarded_intervals;
    return;
  }
  GovernorDecision decision;
  decision.time_us = now.time_ns / 1000;
  decision.sample = SampleSince(before, now);
  decision.flush_share = FlushShare(decision.sample, limits_);
  decision.total_share = TotalShare(decision.sample, limits_);
  decision.debt_share = DebtShare(decision.sample, limits_);
  const bool was_off = compactions_off_;
  uint64_t failed = 0;
  if (!families_.empty()) {
    failed = Apply(decision.sample, &decision);
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
  }
  uint64_t failed = 0;
  for (const std::unique_ptr<GovernedFamily>& each : families_) {
    const bool off = !each->leaving &&
                     (options_.mode == GovernorMode::kToggle ? toggle_.compactions_off : Gathers(each.get()));
    // Also where nothing is to change: what failed before is tried again.
    rocksdb::Status status = each->SetCompactionsOff(off, limits_);
    failed += status.ok() ? 0 : 1;
    decision->compactions_off = decision->compactions_off || off;
    if (decision->status.ok()) {
      decision->status = std::move(status);
    }
  }
  return failed;
}

bool GovernorImpl::Gathers(GovernedFamily* family) {
  const bool merging =
      options_.merge_level0 && family->HasManyRuns() && merger_.IsWorthIt(family->db(), family->family());
  if (merging) {
    merger_.Merge(family->db(), family->family());
  }
  GovernorSample owed;
  family->AddDebt(&owed);
  family->gathering = NextGathering(family->gathering, merging, owed, limits_);
  return family->gathering;
}

GovernorCounters GovernorImpl::Counters() const {
  GovernorCounters counters;
  {
    const std::lock_guard<std::mutex> lock(counters_mutex_);
    counters = counters_;
  }
  counters.device = limiter_->Counters();
  counters.compaction_waited_ns = limiter_->WaitedNanos();
  counters.level0_merges = merger_.merges();
  counters.level0_merged_tables = merger_.merged_tables();
  return counters;
}

std::string GovernorImpl::PrometheusText() const { return rocktune::PrometheusText(Counters()); }

}  // namespace rocktune
