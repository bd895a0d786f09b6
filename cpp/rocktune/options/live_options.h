#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/options/mutable_options.h"
#include "rocktune/runner/rocksdb_options.h"

namespace rocktune {

// The options of an open database as text, by RocksDB's names, for reading and for setting.
//
// In an OptionMaps of this class, `db` and `families` are used, and table options of a family include
// kBlockCacheOption: the capacity of its cache in bytes. Not thread-safe. Functions that return no Status
// throw RunError if RocksDB cannot write its options down.
class LiveOptions {
 public:
  using Family = rocksdb::ColumnFamilyHandle;

  // `families`: the default one if empty. They and `db` must outlive this.
  LiveOptions(rocksdb::DB* db, const std::vector<Family*>& families);

  rocksdb::DB* db() const { return db_; }
  const std::map<std::string, Family*>& families() const { return families_; }

  // Returns the values in force, of the options that RocksDB can serialize and those that are changed
  // through an object. kWriteBuffersOption is "0" without a limit.
  OptionMaps Read() const;

  // Returns why an option cannot be changed to `value` while the database is open, or "". Checks each option
  // by itself. `section` is "db", "cf" or "table"; `family` is that of `section`, null for "db".
  std::string WhyNot(const std::string& section, Family* family, const std::string& name,
                     const std::string& value) const;

  // Returns what the column family's options would be with changes of its `cf` options. The changes must have
  // passed WhyNot.
  rocksdb::Status With(Family* family, const OptionMaps::Map& changes,
                       rocksdb::ColumnFamilyOptions* result) const;

  // Returns the first rule of option_rules.h that the options would break with changes that passed WhyNot,
  // with its place, or "".
  std::string BrokenRuleWith(const OptionMaps& changes) const;

  // Returns the block cache of a column family's tables, or null.
  std::shared_ptr<rocksdb::Cache> CacheOf(Family* family) const;

  // Sets options. Capacities that shrink come first, then the database, the families and capacities that
  // grow, so that the memory of both is never in use at once. Returns the first error, with the options that
  // it is of; the changes before it have been made.
  rocksdb::Status Set(const OptionMaps& changes);

 private:
  std::string WhyNotByObject(Family* family, const std::string& name, const std::string& value) const;
  // Sets the options that are changed through an object, if their value shrinks (`shrinking`) or grows.
  void SetObjects(const OptionMaps& changes, bool shrinking);

  rocksdb::DB* const db_;
  std::map<std::string, Family*> families_;
  const MutableOptions mutable_ = MutableOptionsOfRocksDb();
};

// Returns true if the option is changed through an object.
bool IsByObject(const std::string& section, const std::string& name);

}  // namespace rocktune
