#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <memory>
#include <set>
#include <vector>

#include "rocktune/governor/governed_family.h"
#include "rocktune/governor/governor_policy.h"

namespace rocktune {

// The column families in a governor's care. Writes down what they had before it changes anything, and forgets
// it when all is restored; see original_options.h.
//
// Not thread-safe. Throws nothing.
class GovernedFamilies {
 public:
  using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;

  // Takes column families of a database into care, the default one if none is named, and raises their
  // triggers. REQUIRES: GiveBack before the database or a column family is closed or dropped. If it fails, it
  // has taken none: see CompactionGovernor::Attach.
  rocksdb::Status Take(rocksdb::DB* db, const Handles& families, const GovernorLimits& limits);
  // Restores those of a database and gives up the care of what could be restored. Returns the first failure.
  // OK if there are none.
  rocksdb::Status GiveBack(rocksdb::DB* db);
  // See CompactionGovernor::Recover.
  static rocksdb::Status Recover(rocksdb::DB* db, const Handles& families);

  std::vector<GovernedFamily*> Of(const rocksdb::DB* db) const;
  std::set<rocksdb::DB*> Databases() const;
  bool empty() const { return families_.empty(); }
  auto begin() const { return families_.begin(); }
  auto end() const { return families_.end(); }

 private:
  rocksdb::Status Check(rocksdb::DB* db, const Handles& families, const GovernorLimits& limits) const;

  std::vector<std::unique_ptr<GovernedFamily>> families_;
};

}  // namespace rocktune
