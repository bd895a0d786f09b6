#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <string>

#include "rocktune/governor/governed_options.h"
#include "rocktune/governor/governor_policy.h"

namespace rocktune {

// An attached column family: reads its compaction debt, changes its options and restores them.
//
// Does not own database and handle, which must outlive it. The destructor restores nothing. Not thread-safe.
// Throws no exception. All functions but the getters take RocksDB's mutex; those that set options write the
// OPTIONS file and wait for writes in progress.
class GovernedFamily {
 public:
  // Returns OK if the column family can be governed, and otherwise
  // - NotSupported for a compaction style other than leveled and universal;
  // - InvalidArgument if writes would be slowed before RocksDB begins to compact level 0, which RocksDB
  //   forbids.
  static rocksdb::Status Check(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                               const GovernorLimits& limits);

  // `original` holds the options that Restore sets. If compactions are on in `original` and off now, the
  // governor of a killed process switched them off, and RaiseTriggers switches them on. `bounds` are those of
  // the limits that RaiseTriggers gets.
  GovernedFamily(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, const GovernedOptions& original,
                 const DebtBounds& bounds);

  rocksdb::DB* db() const { return db_; }
  rocksdb::ColumnFamilyHandle* family() const { return family_; }

  // Takes up what the application has set since the governor's last change. A trigger that does not read back
  // as the governor set it is the application's; Restore then sets that value. Compactions that the
  // application has switched off or on count as such. A value equal to the governor's own cannot be told from
  // it. Returns true if triggers are no longer raised; the caller records original() durably and then calls
  // RaiseTriggersAgain. Changes no option.
  bool AdoptChanges();
  // Raises the triggers after AdoptChanges, and leaves compactions off or on. Fails as RaiseTriggers does;
  // AdoptChanges then returns true once more.
  rocksdb::Status RaiseTriggersAgain(const GovernorLimits& limits);
  // Returns the options that Restore sets.
  const GovernedOptions& original() const { return original_; }

  // Sets the triggers that slow and stop writes by the bounds of the debt; see RaisedTriggers. Switches
  // compactions on if the governor of a killed process switched them off. Fails as SetOptions does, and with
  // Aborted if an option reads back with another value.
  rocksdb::Status RaiseTriggers(const GovernorLimits& limits);
  // Switches compactions off, or on with triggers raised by the present debt. Does nothing if they are in
  // that state already, or if the application switched them off. Fails as RaiseTriggers does.
  rocksdb::Status SetCompactionsOff(bool off, const GovernorLimits& limits);
  // True if level 0 has more tables than the original level0_slowdown_writes_trigger, compaction is leveled,
  // and the application has not switched compactions off. Only leveled compaction lets CompactFiles merge
  // level-0 tables with each other.
  bool HasManyRuns() const;
  // Returns a text for people with the debt at which the original options would slow or stop writes. Returns
  // an empty string if the debt is below that, or if the application switched compactions off.
  std::string DescribeExcessDebt() const;
  // Calls AdoptChanges and sets the original options; compactions that the application switched off stay off.
  // Raises the triggers that slow and stop writes to level0_file_num_compaction_trigger, which RocksDB
  // requires, if the application has raised that one meanwhile. Fails as RaiseTriggers does; a second call is
  // safe.
  rocksdb::Status Restore();

  // True while the family's compactions are off so that level-0 tables can be merged with each other.
  bool paused_for_merges = false;
  // True while Detach waits for the family's compactions, which then are neither switched off nor limited.
  bool detaching = false;

  // Raises the debt in `sample` to this family's where the family's is greater. Sets flushes_lag and
  // level0_due if they hold for this family.
  void AddDebt(GovernorSample* sample) const;

 private:
  uint64_t PendingBytes() const;
  uint64_t Level0Tables() const;
  // Returns the raised triggers for the present debt.
  OptionChanges Triggers(const GovernorLimits& limits) const;
  // True if compactions are off and no governor switched them off.
  bool OthersSwitchedOff() const;
  // Sets options and reads them back, since SetOptions may return OK and change nothing. Records in set_ what
  // they read back as.
  rocksdb::Status Change(const OptionChanges& changes);

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const family_;
  const rocksdb::ColumnFamilyOptions attached_;  // the options at construction
  GovernedOptions original_;
  const DebtBounds bounds_;
  GovernedOptions set_;   // the options after the governor's last change
  bool lowered_ = false;  // true if the application has replaced a raised trigger
  bool switched_off_;     // true if a governor, perhaps of a killed process, switched compactions off
};

}  // namespace rocktune
