#pragma once

#include <rocksdb/db.h>

#include <memory>
#include <string>

// Opens a database with its default column family. RocksDB's own DB::Open returns a raw pointer before
// version 10 and a unique_ptr since; a program of one version needs no such helper.
template <typename Database = rocksdb::DB>
rocksdb::Status OpenDatabase(const rocksdb::Options& options, const std::string& path,
                             std::unique_ptr<Database>* db) {
  if constexpr (requires { Database::Open(options, path, db); }) {
    return Database::Open(options, path, db);
  } else {
    Database* opened = nullptr;
    rocksdb::Status status = Database::Open(options, path, &opened);
    db->reset(opened);
    return status;
  }
}
