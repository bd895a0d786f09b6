#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "rocktune/governor/governor_policy.h"

namespace rocktune {

// One column family in a governor's care: what it owes, and its options while they are changed.
//
// Not thread-safe. The database and the handle must outlive it. Throws nothing.
class GovernedFamily {
 public:
  GovernedFamily(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family);

  rocksdb::DB* db() const { return db_; }
  rocksdb::ColumnFamilyHandle* family() const { return family_; }

  // Sets the triggers at which writes are slowed and stopped to kSlowedShare of the debt's bound and to the
  // bound itself; a bound of 0 is as good as none. What is owed beyond that already is no reason to stop at
  // once: the triggers then begin above it.
  rocksdb::Status RaiseTriggers(const GovernorLimits& limits);
  // Switches compactions off, or on with triggers as above, unless others have switched them off.
  rocksdb::Status SetCompactionsOff(bool off, const GovernorLimits& limits);
  // Whether level 0 has more tables than the column family's own options let it have without slowing writes,
  // nobody else has switched compactions off, and tables of level 0 may become one, as only leveled
  // compaction lets them.
  bool HasManyRuns() const;
  // Sets what was changed to what it was at first; compactions that others have switched off stay off.
  rocksdb::Status Restore();

  // Whether its compactions are paused for merges within level 0.
  bool gathering = false;

  // Adds what the column family owes to the sample, if it is more than what stands there.
  void AddDebt(GovernorSample* sample) const;

 private:
  using Changes = std::unordered_map<std::string, std::string>;

  uint64_t PendingBytes() const;
  uint64_t Level0Tables() const;
  Changes Triggers(const GovernorLimits& limits) const;
  // Sets options and reads them back, since RocksDB may take them and change nothing.
  rocksdb::Status Change(const Changes& changes);

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const family_;
  const rocksdb::ColumnFamilyOptions original_;
  bool switched_off_ = false;  // compactions, by this
};

}  // namespace rocktune
