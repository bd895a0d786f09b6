#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <memory>
#include <set>
#include <vector>

#include "rocktune/governor/governed_family.h"
#include "rocktune/governor/governor_policy.h"

namespace rocktune {

// The attached column families of a governor, over all its databases. Keeps their original options in
// ROCKTUNE_GOVERNOR (original_options.h) from before the first change until the last restored option.
//
// Does not own databases and handles. Not thread-safe. Throws no exception. Attach, Detach and Recover do I/O
// and take RocksDB's mutex.
class GovernedFamilies {
 public:
  using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;

  // Returns the error with which Attach refuses column families, or OK. Reads only.
  rocksdb::Status Check(rocksdb::DB* db, const Handles& families, const GovernorLimits& limits) const;
  // Attaches column families of a database, the default one if `families` is empty, and raises their
  // triggers. On failure nothing is attached and all options are as before; CompactionGovernor::Attach lists
  // the errors. REQUIRES: Detach is called before the database is closed or a column family is dropped.
  rocksdb::Status Attach(rocksdb::DB* db, const Handles& families, const GovernorLimits& limits);
  // Takes up the options that applications have set since the governor's last change, records them as the
  // original ones, and raises the triggers again; not those of a family that is detaching. Returns the first
  // error; the next call tries again.
  rocksdb::Status AdoptChanges(const GovernorLimits& limits);
  // Restores the options of a database's column families, or of `only` one of them, and detaches them.
  // Returns the first failure; a family whose options could not be restored stays attached. Returns OK if
  // nothing is attached.
  rocksdb::Status Detach(rocksdb::DB* db, const rocksdb::ColumnFamilyHandle* only = nullptr);
  // Restores the options that a killed process' governor left; the contract is CompactionGovernor::Recover's.
  static rocksdb::Status Recover(rocksdb::DB* db, const Handles& families);

  // Returns the attached column families of a database. The pointers are valid until Detach.
  std::vector<GovernedFamily*> OfDatabase(const rocksdb::DB* db) const;
  // True if a column family of a database is attached.
  bool Contains(const rocksdb::DB* db, const rocksdb::ColumnFamilyHandle* family) const;
  // Returns the databases with an attached column family.
  std::set<rocksdb::DB*> Databases() const;
  bool empty() const { return families_.empty(); }
  auto begin() const { return families_.begin(); }
  auto end() const { return families_.end(); }

 private:
  std::vector<std::unique_ptr<GovernedFamily>> families_;
};

}  // namespace rocktune
