#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>
#include <rocksdb/utilities/stackable_db.h>

#include <chrono>
#include <memory>
#include <vector>

#include "rocktune/compaction_governor.h"

namespace rocktune {

// A database with a governor whose column families come and go: those created through it are governed from
// the start, and those that are dropped, or whose handles are destroyed, are detached before.
//
//     std::shared_ptr<rocktune::CompactionGovernor> governor = ...;
//     governor->Prepare(&options);
//     rocksdb::DB::Open(options, path, families, &handles, &db);
//     std::unique_ptr<rocktune::GovernedDb> governed;
//     rocktune::GovernedDb::Attach(governor, db, handles, 10s, &governed);   // owns db from now on
//     governed->CreateColumnFamily(options, "later", &handle);              // governed too
//
// All other calls are forwarded. Call DestroyColumnFamilyHandle instead of deleting a handle, and make the
// calls that create, drop and destroy through this object. Thread-safe, as RocksDB is.
// Ownership: owns the database. Deleting it detaches without waiting for compactions, and closes.
class GovernedDb : public rocksdb::StackableDB {
 public:
  // Attaches column families of `db` as CompactionGovernor::Attach does, the default one if `families` is
  // empty, and takes ownership of `db`. Close detaches and lets compactions catch up for at most
  // `close_wait`. Fails as CompactionGovernor::Attach does; the caller then still owns `db`, and `*governed`
  // is as before.
  static rocksdb::Status Attach(const std::shared_ptr<CompactionGovernor>& governor, rocksdb::DB* db,
                                const std::vector<rocksdb::ColumnFamilyHandle*>& families,
                                std::chrono::milliseconds close_wait, std::unique_ptr<GovernedDb>* governed);

  // Returns the first error with which a family created later could not be attached, or OK. Such a family
  // exists and is not governed; the database's LOG has a warning. Families with FIFO compaction or style None
  // are left alone and are no error.
  virtual rocksdb::Status AttachFailure() const = 0;

 protected:
  using StackableDB::StackableDB;
};

}  // namespace rocktune
