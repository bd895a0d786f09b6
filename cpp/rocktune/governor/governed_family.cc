#include "rocktune/governor/governed_family.h"

#include <algorithm>
#include <cmath>

namespace rocktune {
namespace {

constexpr const char* kCompactionsOff = "disable_auto_compactions";
constexpr const char* kSlowdownTrigger = "level0_slowdown_writes_trigger";
constexpr const char* kStopTrigger = "level0_stop_writes_trigger";
constexpr const char* kSoftLimit = "soft_pending_compaction_bytes_limit";
constexpr const char* kHardLimit = "hard_pending_compaction_bytes_limit";
// PrepareForBulkLoad's, for "never".
constexpr uint64_t kNever = 1 << 30;

// Of the options that a governor changes.
std::unordered_map<std::string, std::string> Values(const rocksdb::ColumnFamilyOptions& options) {
  return {{kCompactionsOff, options.disable_auto_compactions ? "true" : "false"},
          {kSlowdownTrigger, std::to_string(options.level0_slowdown_writes_trigger)},
          {kStopTrigger, std::to_string(options.level0_stop_writes_trigger)},
          {kSoftLimit, std::to_string(options.soft_pending_compaction_bytes_limit)},
          {kHardLimit, std::to_string(options.hard_pending_compaction_bytes_limit)}};
}

}  // namespace

GovernedFamily::GovernedFamily(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family)
    : db_(db), family_(family), original_(db->GetOptions(family)) {}

rocksdb::Status GovernedFamily::Change(const Changes& changes) {
  rocksdb::Status status = db_->SetOptions(family_, changes);
  if (!status.ok()) {
    return status;
  }
  const Changes now = Values(db_->GetOptions(family_));
  for (const auto& [name, value] : changes) {
    if (now.at(name) != value) {
      std::string told = "RocksDB took " + name;
      told += "=" + value;
      told += ", and has " + now.at(name);
      return rocksdb::Status::Aborted(told);
    }
  }
  return status;
}

GovernedFamily::Changes GovernedFamily::Triggers(const GovernorLimits& limits) const {
  const auto stop_at = [](uint64_t bound, uint64_t owed) {
    return std::max(bound, static_cast<uint64_t>(static_cast<double>(owed) / kSlowedShare) + 1);
  };
  const auto slow_at = [](uint64_t stop) {
    return static_cast<uint64_t>(std::ceil(kSlowedShare * static_cast<double>(stop)));
  };
  const uint64_t runs =
      limits.debt_runs == 0 ? kNever : std::min(stop_at(limits.debt_runs, Level0Tables()), kNever);
  const uint64_t bytes = limits.debt_bytes == 0 ? 0 : stop_at(limits.debt_bytes, PendingBytes());
  return {{kSlowdownTrigger, std::to_string(slow_at(runs))},
          {kStopTrigger, std::to_string(runs)},
          {kSoftLimit, std::to_string(slow_at(bytes))},
          {kHardLimit, std::to_string(bytes)}};
}

rocksdb::Status GovernedFamily::RaiseTriggers(const GovernorLimits& limits) {
  return Change(Triggers(limits));
}

rocksdb::Status GovernedFamily::SetCompactionsOff(bool off, const GovernorLimits& limits) {
  // What others have switched off is theirs to switch on.
  if (off == switched_off_ || (off && db_->GetOptions(family_).disable_auto_compactions)) {
    return rocksdb::Status::OK();
  }
  Changes changes = off ? Changes() : Triggers(limits);
  changes[kCompactionsOff] = off ? "true" : "false";
  rocksdb::Status status = Change(changes);
  if (status.ok()) {
    switched_off_ = off;
  }
  return status;
}

uint64_t GovernedFamily::PendingBytes() const {
  uint64_t bytes = 0;
  return db_->GetIntProperty(family_, rocksdb::DB::Properties::kEstimatePendingCompactionBytes, &bytes)
             ? bytes
             : 0;
}

uint64_t GovernedFamily::Level0Tables() const {
  std::string tables;
  return db_->GetProperty(family_, rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0", &tables)
             ? std::stoull(tables)
             : 0;
}

bool GovernedFamily::HasManyRuns() const {
  return original_.compaction_style == rocksdb::kCompactionStyleLevel &&
         (switched_off_ || !db_->GetOptions(family_).disable_auto_compactions) &&
         Level0Tables() > static_cast<uint64_t>(std::max(0, original_.level0_slowdown_writes_trigger));
}

rocksdb::Status GovernedFamily::Restore() {
  Changes changes = Values(original_);
  if (!switched_off_) {
    changes.erase(kCompactionsOff);
  }
  return Change(changes);
}

void GovernedFamily::AddDebt(GovernorSample* sample) const {
  sample->pending_bytes = std::max(sample->pending_bytes, PendingBytes());
  const uint64_t tables = Level0Tables();
  sample->sorted_runs = std::max(sample->sorted_runs, tables);
  const auto trigger = static_cast<uint64_t>(std::max(1, original_.level0_file_num_compaction_trigger));
  sample->level0_due = sample->level0_due || tables >= trigger;
  uint64_t waiting = 0;
  if (!db_->GetIntProperty(family_, rocksdb::DB::Properties::kNumImmutableMemTable, &waiting)) {
    waiting = 0;
  }
  const auto buffers = static_cast<uint64_t>(std::max(original_.max_write_buffer_number, 2));
  sample->flushes_lag = sample->flushes_lag || 2 * waiting >= buffers;
}

}  // namespace rocktune
