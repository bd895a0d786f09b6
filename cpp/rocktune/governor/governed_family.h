#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <string>

#include "rocktune/governor/governed_options.h"
#include "rocktune/governor/governor_policy.h"

namespace rocktune {

// One column family in a governor's care: what it owes, and its options while they are changed.
//
// Not thread-safe. The database and the handle must outlive it. Throws nothing.
class GovernedFamily {
 public:
  // NotSupported if the column family's compaction style leaves a governor nothing to do; InvalidArgument if
  // writes would be slowed before RocksDB begins to compact level 0, which RocksDB forbids.
  static rocksdb::Status Check(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                               const GovernorLimits& limits);

  // `original` is what Restore sets. Where it has compactions on and they are off now, a governor that is
  // gone has switched them off.
  GovernedFamily(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, const GovernedOptions& original);

  rocksdb::DB* db() const { return db_; }
  rocksdb::ColumnFamilyHandle* family() const { return family_; }

  // Sets the triggers at which writes are slowed and stopped to kSlowedShare of the debt's bound and to the
  // bound itself; a bound of 0 is as good as none. What is owed beyond that already is no reason to stop at
  // once: the triggers then begin above it. Switches compactions on that a governor which is gone has
  // switched off.
  rocksdb::Status RaiseTriggers(const GovernorLimits& limits);
  // Switches compactions off, or on with triggers as above, unless others have switched them off.
  rocksdb::Status SetCompactionsOff(bool off, const GovernorLimits& limits);
  // Whether level 0 has more tables than the column family's own options let it have without slowing writes,
  // nobody else has switched compactions off, and tables of level 0 may become one, as only leveled
  // compaction lets them.
  bool HasManyRuns() const;
  // Returns what is owed at which the original options would slow or stop writes, for people to read; empty
  // if nothing is.
  std::string OwedBeyondOriginals() const;
  // Sets what was changed to what it was at first; compactions that others have switched off stay off. Where
  // level0_file_num_compaction_trigger was raised meanwhile, the triggers that slow writes follow it.
  rocksdb::Status Restore();

  // Whether its compactions are paused for merges within level 0.
  bool gathering = false;
  // Whether it is being detached: its compactions are neither paused nor slowed any more.
  bool leaving = false;

  // Adds what the column family owes to the sample, if it is more than what stands there.
  void AddDebt(GovernorSample* sample) const;

 private:
  uint64_t PendingBytes() const;
  uint64_t Level0Tables() const;
  OptionChanges Triggers(const GovernorLimits& limits) const;
  bool OthersSwitchedOff() const;
  // Sets options and reads them back, since RocksDB may take them and change nothing.
  rocksdb::Status Change(const OptionChanges& changes);

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const family_;
  const rocksdb::ColumnFamilyOptions attached_;  // when it came into care
  const GovernedOptions original_;
  bool switched_off_;  // compactions, by a governor
};

}  // namespace rocktune
