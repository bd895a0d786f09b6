#include "rocktune/governor/governed_family.h"

#include <algorithm>

namespace rocktune {

rocksdb::Status GovernedFamily::Check(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                                      const GovernorLimits& limits) {
  const rocksdb::ColumnFamilyOptions options = db->GetOptions(family);
  const std::string name = "column family '" + family->GetName() + "'";
  // Style None is for stores that compact by themselves, such as FlsmStore; their writes are held back by
  // level 0 alone. FIFO compaction has no debt.
  if (options.compaction_style != rocksdb::kCompactionStyleLevel &&
      options.compaction_style != rocksdb::kCompactionStyleUniversal) {
    return rocksdb::Status::NotSupported(
        name,
        "only leveled and universal compaction can be governed; FIFO has no debt, and stores with style "
        "None, as FLSM stores are, compact by themselves");
  }
  const int trigger = options.level0_file_num_compaction_trigger;
  if (limits.debt_runs != 0 && limits.debt_runs < MinDebtRuns(trigger)) {
    return rocksdb::Status::InvalidArgument(
        "debt_runs = " + std::to_string(limits.debt_runs) + " is too small for " + name,
        "its level0_file_num_compaction_trigger is " + std::to_string(trigger) +
            "; set debt_runs to at least " + std::to_string(MinDebtRuns(trigger)) + ", or to 0 for no bound");
  }
  return rocksdb::Status::OK();
}

GovernedFamily::GovernedFamily(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                               const GovernedOptions& original, const DebtBounds& bounds)
    : db_(db),
      family_(family),
      attached_(db->GetOptions(family)),
      original_(original),
      bounds_(bounds),
      set_(GovernedOptionsOf(attached_)),
      switched_off_(attached_.disable_auto_compactions && !original.disable_auto_compactions) {}

rocksdb::Status GovernedFamily::Change(const OptionChanges& changes) {
  rocksdb::Status status = db_->SetOptions(family_, changes);
  if (!status.ok()) {
    return status;
  }
  set_ = GovernedOptionsOf(db_->GetOptions(family_));
  const OptionChanges now = ToChanges(set_);
  for (const auto& [name, value] : changes) {
    if (now.at(name) != value) {
      std::string message = "SetOptions accepted " + name;
      message += " = " + value;
      message += ", but the option reads back as " + now.at(name);
      return rocksdb::Status::Aborted(message);
    }
  }
  return status;
}

OptionChanges GovernedFamily::Triggers(const GovernorLimits& limits) const {
  // RocksDB requires the other triggers above this one, which the application may have raised since Attach.
  const auto compaction_trigger =
      static_cast<uint64_t>(std::max(0, db_->GetOptions(family_).level0_file_num_compaction_trigger));
  OptionChanges changes = ToChanges(RaisedTriggers(
      {limits.debt_runs, limits.debt_bytes}, {std::max(Level0Tables(), compaction_trigger), PendingBytes()}));
  changes.erase(kDisableAutoCompactions);
  return changes;
}

bool GovernedFamily::AdoptChanges() {
  const GovernedOptions now = GovernedOptionsOf(db_->GetOptions(family_));
  const auto adopt = [&](auto trigger) {
    if (now.*trigger != set_.*trigger) {
      original_.*trigger = now.*trigger;
      lowered_ = true;
    }
  };
  // RocksDB before 9.11 may revert a change silently; triggers of a governor are never the application's.
  if (!AreRaisedTriggers(now, bounds_)) {
    adopt(&GovernedOptions::level0_slowdown_writes_trigger);
    adopt(&GovernedOptions::level0_stop_writes_trigger);
    adopt(&GovernedOptions::soft_pending_compaction_bytes_limit);
    adopt(&GovernedOptions::hard_pending_compaction_bytes_limit);
  }
  switched_off_ = switched_off_ && now.disable_auto_compactions;
  set_ = now;
  return lowered_;
}

rocksdb::Status GovernedFamily::RaiseTriggersAgain(const GovernorLimits& limits) {
  rocksdb::Status status = Change(Triggers(limits));
  lowered_ = !status.ok();
  return status;
}

rocksdb::Status GovernedFamily::RaiseTriggers(const GovernorLimits& limits) {
  return switched_off_ ? SetCompactionsOff(false, limits) : Change(Triggers(limits));
}

rocksdb::Status GovernedFamily::SetCompactionsOff(bool off, const GovernorLimits& limits) {
  // Compactions that the application switched off are left to the application.
  if (off == switched_off_ || (off && OthersSwitchedOff())) {
    return rocksdb::Status::OK();
  }
  OptionChanges changes = off ? OptionChanges() : Triggers(limits);
  changes[kDisableAutoCompactions] = off ? "true" : "false";
  rocksdb::Status status = Change(changes);
  if (status.ok()) {
    switched_off_ = off;
  }
  return status;
}

bool GovernedFamily::OthersSwitchedOff() const {
  return !switched_off_ && db_->GetOptions(family_).disable_auto_compactions;
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
  return attached_.compaction_style == rocksdb::kCompactionStyleLevel && !OthersSwitchedOff() &&
         Level0Tables() >
             static_cast<uint64_t>(std::max<int64_t>(0, original_.level0_slowdown_writes_trigger));
}

std::string GovernedFamily::DescribeExcessDebt() const {
  if (OthersSwitchedOff()) {
    return "";  // RocksDB then neither slows nor stops writes
  }
  std::string owed;
  const uint64_t tables = Level0Tables();
  if (static_cast<int64_t>(tables) >= original_.level0_slowdown_writes_trigger) {
    owed += " " + std::to_string(tables) + " files in level 0 (its options slow writes at " +
            std::to_string(original_.level0_slowdown_writes_trigger) + " files and stop them at " +
            std::to_string(original_.level0_stop_writes_trigger) + ")";
  }
  const uint64_t bytes = PendingBytes();
  const uint64_t soft = original_.soft_pending_compaction_bytes_limit;
  if (soft > 0 && bytes >= soft) {
    owed += " " + std::to_string(bytes) + " bytes to compact (its options slow writes at " +
            std::to_string(soft) + ")";
  }
  return owed.empty() ? "" : "column family '" + family_->GetName() + "' has" + owed;
}

rocksdb::Status GovernedFamily::Restore() {
  AdoptChanges();
  GovernedOptions options = original_;
  const int64_t trigger = db_->GetOptions(family_).level0_file_num_compaction_trigger;
  options.level0_slowdown_writes_trigger = std::max(options.level0_slowdown_writes_trigger, trigger);
  options.level0_stop_writes_trigger =
      std::max(options.level0_stop_writes_trigger, options.level0_slowdown_writes_trigger);
  OptionChanges changes = ToChanges(options);
  if (!switched_off_) {
    changes.erase(kDisableAutoCompactions);
  }
  return Change(changes);
}

void GovernedFamily::AddDebt(GovernorSample* sample) const {
  sample->pending_bytes = std::max(sample->pending_bytes, PendingBytes());
  const uint64_t tables = Level0Tables();
  sample->sorted_runs = std::max(sample->sorted_runs, tables);
  const auto trigger = static_cast<uint64_t>(std::max(1, attached_.level0_file_num_compaction_trigger));
  sample->level0_due = sample->level0_due || tables >= trigger;
  uint64_t waiting = 0;
  if (!db_->GetIntProperty(family_, rocksdb::DB::Properties::kNumImmutableMemTable, &waiting)) {
    waiting = 0;
  }
  // RocksDB uses at least two write buffers, whatever the option says.
  const auto buffers = static_cast<uint64_t>(std::max(attached_.max_write_buffer_number, 2));
  sample->flushes_lag = sample->flushes_lag || 2 * waiting >= buffers;
}

}  // namespace rocktune
