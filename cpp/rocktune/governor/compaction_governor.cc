#include "rocktune/governor/compaction_governor.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "rocktune/governor/governed_family.h"
#include "rocktune/util/io_cause.h"

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
  if (!is_share(options.least_compaction_share)) {
    return rocksdb::Status::InvalidArgument("least_compaction_share: must be above 0 and at most 1");
  }
  return rocksdb::Status::OK();
}

rocksdb::Status CompactionGovernor::Create(const GovernorOptions& options,
                                           std::unique_ptr<CompactionGovernor>* governor) {
  rocksdb::Status status = Check(options);
  if (status.ok()) {
    governor->reset(new CompactionGovernor(Completed(options)));
  }
  return status;
}

CompactionGovernor::CompactionGovernor(const GovernorOptions& options)
    : options_(options),
      limits_{options.device_bytes_per_s, options.max_flush_bytes_per_s, options.debt_bytes,
              options.debt_runs, options.least_compaction_share},
      clock_(options.clock),
      limiter_(std::make_shared<GovernedRateLimiter>(static_cast<int64_t>(options.device_bytes_per_s),
                                                     options.clock)),
      roles_(NewThreadRoleListener()),
      guard_(std::make_shared<ManifestGuard>()),
      thread_([this] { Work(); }) {}

CompactionGovernor::~CompactionGovernor() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  // First, since changes of options wait for writes, and these may wait for compactions.
  limiter_->Lift();
  ending_.notify_all();
  thread_.join();
  for (const std::unique_ptr<GovernedFamily>& each : families_) {
    merger_.Leave(each->db());
  }
  for (const std::unique_ptr<GovernedFamily>& each : families_) {
    each->Restore().PermitUncheckedError();
  }
}

void CompactionGovernor::Prepare(rocksdb::Options* options) const {
  options->rate_limiter = limiter_;
  options->listeners.push_back(roles_);
  options->listeners.push_back(guard_);
  if (options->statistics == nullptr) {
    options->statistics = rocksdb::CreateDBStatistics();
    options->statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  }
}

rocksdb::Status CompactionGovernor::Attach(rocksdb::DB* db,
                                           const std::vector<rocksdb::ColumnFamilyHandle*>& families) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (db->GetDBOptions().rate_limiter != limiter_) {
    return rocksdb::Status::InvalidArgument("the database was opened without this governor's rate limiter");
  }
  std::vector<rocksdb::ColumnFamilyHandle*> wanted = families;
  if (wanted.empty()) {
    wanted.push_back(db->DefaultColumnFamily());
  }
  std::vector<std::unique_ptr<GovernedFamily>> added;
  rocksdb::Status status;
  for (rocksdb::ColumnFamilyHandle* family : wanted) {
    const auto same = [&](const std::unique_ptr<GovernedFamily>& other) {
      return other->db() == db && other->family()->GetID() == family->GetID();
    };
    if (std::any_of(families_.begin(), families_.end(), same) ||
        std::any_of(added.begin(), added.end(), same)) {
      status =
          rocksdb::Status::InvalidArgument("column family '" + family->GetName() + "' is attached already");
      break;
    }
    added.push_back(std::make_unique<GovernedFamily>(db, family));
    status = added.back()->RaiseTriggers(limits_);
    if (!status.ok()) {
      break;
    }
  }
  if (!status.ok()) {
    for (const std::unique_ptr<GovernedFamily>& each : added) {
      each->Restore().PermitUncheckedError();
    }
    return status;
  }
  std::move(added.begin(), added.end(), std::back_inserter(families_));
  before_ = limited_ = TakeTotals();
  return status;
}

rocksdb::Status CompactionGovernor::Detach(rocksdb::DB* db) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // First, as above. While others are attached, it is set again soon.
  limiter_->SetCompactionBytesPerSecond(0);
  merger_.Leave(db);
  rocksdb::Status first;
  const auto restored = [&](const std::unique_ptr<GovernedFamily>& each) {
    if (each->db() != db) {
      return false;
    }
    const rocksdb::Status status = each->Restore();
    if (first.ok()) {
      first = status;
    }
    return status.ok();
  };
  families_.erase(std::remove_if(families_.begin(), families_.end(), restored), families_.end());
  if (families_.empty()) {
    toggle_ = ToggleState();
    compactions_off_ = false;
  }
  before_ = limited_ = TakeTotals();
  return first;
}

void CompactionGovernor::Work() {
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

bool CompactionGovernor::ClockJumped(const Totals& before, const Totals& now) const {
  return now.time_ns <= before.time_ns || static_cast<double>(now.time_ns - before.time_ns) >
                                              kJump * static_cast<double>(options_.interval_us) * 1000;
}

void CompactionGovernor::Limit() {
  const Totals now = TakeTotals();
  const Totals before = std::exchange(limited_, now);
  if (!families_.empty() && !ClockJumped(before, now)) {
    limiter_->SetCompactionBytesPerSecond(
        rocktune::CompactionBytesPerSecond(SampleSince(before, now), limits_));
  }
}

CompactionGovernor::Totals CompactionGovernor::TakeTotals() const {
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

GovernorSample CompactionGovernor::SampleSince(const Totals& before, const Totals& now) const {
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

void CompactionGovernor::Decide() {
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

uint64_t CompactionGovernor::Apply(const GovernorSample& sample, GovernorDecision* decision) {
  decision->compaction_bytes_per_s = limiter_->CompactionBytesPerSecond();
  if (options_.mode == GovernorMode::kToggle) {
    toggle_ = NextToggle(toggle_, sample, limits_, options_.watermarks);
  }
  uint64_t failed = 0;
  for (const std::unique_ptr<GovernedFamily>& each : families_) {
    const bool off = options_.mode == GovernorMode::kToggle ? toggle_.compactions_off : Gathers(each.get());
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

bool CompactionGovernor::Gathers(GovernedFamily* family) {
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

GovernorCounters CompactionGovernor::Counters() const {
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

std::string CompactionGovernor::PrometheusText() const {
  const GovernorCounters counters = Counters();
  std::string text;
  const auto add = [&text](const std::string& name, const char* type, const char* help, double value) {
    const std::string full = "rocktune_governor_" + name;
    text += "# HELP " + full + " " + help + "\n# TYPE " + full + " " + type + "\n";
    text += full + " " + std::to_string(value) + "\n";
  };
  add("intervals_total", "counter", "Intervals after which was decided.",
      static_cast<double>(counters.intervals));
  add("discarded_intervals_total", "counter", "Intervals during which the clock jumped.",
      static_cast<double>(counters.discarded_intervals));
  add("switched_off_total", "counter", "How often compactions were switched off.",
      static_cast<double>(counters.switched_off));
  add("switched_on_total", "counter", "How often compactions were switched on again.",
      static_cast<double>(counters.switched_on));
  add("failed_changes_total", "counter", "Changes of options that RocksDB refused.",
      static_cast<double>(counters.failed_changes));
  add("level0_merges_total", "counter", "Merges of tables of level 0 with each other.",
      static_cast<double>(counters.level0_merges));
  add("level0_merged_tables_total", "counter", "Tables that they merged.",
      static_cast<double>(counters.level0_merged_tables));
  add("compaction_waited_seconds_total", "counter", "How long compactions waited for their share.",
      static_cast<double>(counters.compaction_waited_ns) / kNanosPerSecond);
  for (const IoCause cause : {IoCause::kFlush, IoCause::kCompactionRead, IoCause::kCompactionWrite}) {
    const std::string name = kIoCauseNames[static_cast<std::size_t>(cause)];
    add(name + "_bytes_total", "counter", "Bytes by cause.", static_cast<double>(Of(counters.device, cause)));
  }
  add("debt_share", "gauge", "How near the debt is to its bound; 1 at the bound.", counters.last.debt_share);
  add("compactions_off", "gauge", "1 while compactions are switched off.",
      counters.last.compactions_off ? 1 : 0);
  add("compaction_bytes_per_second", "gauge", "What compactions may read and write; 0 without a limit.",
      static_cast<double>(counters.last.compaction_bytes_per_s));
  return text;
}

}  // namespace rocktune
