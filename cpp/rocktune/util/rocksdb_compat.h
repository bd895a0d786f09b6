#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <rocksdb/version.h>
#include <rocksdb/wide_columns.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>
#if __has_include(<rocksdb/advanced_cache.h>)
#include <rocksdb/advanced_cache.h>  // has Cache's methods since 8.1
#endif

// The differences between RocksDB 7.8 and RocksDB 11 that matter to rocktune. Only those of the members of
// rocksdb::DB that an FlsmStore overrides are elsewhere, in flsm/flsm_{reads,writes,refusals}.h.
//
// Functions that ask for a member with `requires` are templates, because the condition must depend on a
// template parameter: the compiler checks it even where the member is missing.

namespace ROCKSDB_NAMESPACE {
// A declaration from RocksDB's internal sync_point.h, which RocksDbAssertionsOn uses.
class SyncPoint {
 public:
  [[gnu::weak]] static SyncPoint* GetInstance();
};
}  // namespace ROCKSDB_NAMESPACE

namespace rocktune {

// Returns the version of the linked RocksDB, such as "7.8.3". It may differ from the version of the headers.
inline std::string RocksDbVersion() { return rocksdb::GetRocksVersionAsString(true); }

// Returns true if the linked RocksDB was built with assertions. RocksDB compiles its sync points exactly if
// it compiles assert(), that is without NDEBUG, so a library that defines SyncPoint::GetInstance has both.
// The function is declared weak: its address is null if the library does not define it. It is never called.
inline bool RocksDbAssertionsOn() {
  // Volatile, or the compiler assumes that a function's address is not null.
  rocksdb::SyncPoint* (*volatile get_instance)() = &rocksdb::SyncPoint::GetInstance;
  return get_instance != nullptr;
}

// Returns a hyper clock cache of `capacity_bytes` that sizes its table itself, or nullptr before RocksDB 9,
// where such a cache is missing or experimental. -1 for `num_shard_bits` leaves the number to RocksDB.
inline std::shared_ptr<rocksdb::Cache> NewHyperClockCache(std::size_t capacity_bytes, int num_shard_bits) {
#if ROCKSDB_MAJOR >= 9
  // An estimated entry charge of 0 selects the variant whose table grows.
  return rocksdb::HyperClockCacheOptions(capacity_bytes, 0, num_shard_bits).MakeSharedCache();
#else
  static_cast<void>(capacity_bytes);
  static_cast<void>(num_shard_bits);
  return nullptr;
#endif
}

// Opens a database with its default column family and returns the status of DB::Open, which hands out a raw
// pointer in 7.8 and a unique_ptr in 11. `Database` may be a subclass of DB with an Open of its own.
template <typename Database = rocksdb::DB>
rocksdb::Status OpenDatabase(const rocksdb::Options& options, const std::string& directory,
                             std::unique_ptr<Database>* database) {
  if constexpr (requires { Database::Open(options, directory, database); }) {
    return Database::Open(options, directory, database);
  } else {
    Database* opened = nullptr;
    rocksdb::Status status = Database::Open(options, directory, &opened);
    database->reset(opened);
    return status;
  }
}

// Opens a database with several column families and returns the status of DB::Open. The caller destroys the
// handles, with DestroyColumnFamilyHandle, before the database.
template <typename Database = rocksdb::DB>
rocksdb::Status OpenColumnFamilies(const rocksdb::DBOptions& options, const std::string& directory,
                                   const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                                   std::vector<rocksdb::ColumnFamilyHandle*>* handles,
                                   std::unique_ptr<Database>* database) {
  if constexpr (requires { Database::Open(options, directory, families, handles, database); }) {
    return Database::Open(options, directory, families, handles, database);
  } else {
    Database* opened = nullptr;
    rocksdb::Status status = Database::Open(options, directory, families, handles, &opened);
    database->reset(opened);
    return status;
  }
}

// Opens a database for reading and returns the status of DB::OpenForReadOnly. The database may be open in
// another process.
template <typename Database = rocksdb::DB>
rocksdb::Status OpenDatabaseReadOnly(const rocksdb::Options& options, const std::string& directory,
                                     std::unique_ptr<Database>* database) {
  if constexpr (requires { Database::OpenForReadOnly(options, directory, database); }) {
    return Database::OpenForReadOnly(options, directory, database);
  } else {
    Database* opened = nullptr;
    rocksdb::Status status = Database::OpenForReadOnly(options, directory, &opened);
    database->reset(opened);
    return status;
  }
}

// Opens a database with several column families for reading and returns the status of DB::OpenForReadOnly.
// The caller destroys the handles before the database.
template <typename Database = rocksdb::DB>
rocksdb::Status OpenColumnFamiliesReadOnly(const rocksdb::DBOptions& options, const std::string& directory,
                                           const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                                           std::vector<rocksdb::ColumnFamilyHandle*>* handles,
                                           std::unique_ptr<Database>* database) {
  if constexpr (requires { Database::OpenForReadOnly(options, directory, families, handles, database); }) {
    return Database::OpenForReadOnly(options, directory, families, handles, database);
  } else {
    Database* opened = nullptr;
    rocksdb::Status status = Database::OpenForReadOnly(options, directory, families, handles, &opened);
    database->reset(opened);
    return status;
  }
}

// Adds an entry with several columns to a table. Returns NotSupported for a RocksDB whose table writer cannot
// write such entries, such as 7.8.
template <typename Writer>
rocksdb::Status PutColumns(Writer* writer, const rocksdb::Slice& key, const rocksdb::WideColumns& columns) {
  if constexpr (requires { writer->PutEntity(key, columns); }) {
    return writer->PutEntity(key, columns);
  } else {
    return rocksdb::Status::NotSupported("the table writer of RocksDB " + RocksDbVersion() +
                                         " cannot write wide columns");
  }
}

// Returns true if RocksDB orders the tables of level 0 by their epoch numbers (7.10 and newer), and false if
// by the sequence numbers of their entries.
template <typename File = rocksdb::SstFileMetaData>
constexpr bool OrdersLevel0ByEpoch() {
  return requires(File file) { file.epoch_number; };
}

// Returns true if CompactFiles can move a table that overlaps no other one, instead of rewriting it.
template <typename Options = rocksdb::CompactionOptions>
constexpr bool HasTrivialMove() {
  return requires(Options options) { options.allow_trivial_move; };
}

// Lets CompactFiles move tables if it can (HasTrivialMove), and stop with Incomplete once `*canceled` is
// true. Versions without such a flag ignore it; there DisableManualCompaction stops a compaction. `*canceled`
// must outlive the compaction.
template <typename Options = rocksdb::CompactionOptions>
void EnableTrivialMoveAndCancel(std::atomic<bool>* canceled, Options* options) {
  if constexpr (requires { options->allow_trivial_move; }) {
    options->allow_trivial_move = true;
  }
  if constexpr (requires { options->canceled; }) {
    options->canceled = canceled;
  }
}

// Lets CompactFiles rewrite all tables, whatever EnableTrivialMoveAndCancel allowed.
template <typename Options = rocksdb::CompactionOptions>
void DisableTrivialMove(Options* options) {
  if constexpr (requires { options->allow_trivial_move; }) {
    options->allow_trivial_move = false;
  }
}

// Returns true if SetOptions with options of the table makes a new table factory (9.8 and newer). Older
// versions change the factory in place while other threads read it.
constexpr bool ReplacesTableFactory() {
  return ROCKSDB_MAJOR > 9 || (ROCKSDB_MAJOR == 9 && ROCKSDB_MINOR >= 8);
}

// Returns true if RocksDB quarantines the files that a failed write of the MANIFEST may name, also after
// CompactFiles. These versions are recognized by their EnableFileDeletions, which has no parameter `force`.
template <typename Database = rocksdb::DB>
constexpr bool QuarantinesFiles() {
  return !requires(Database * database) { database->EnableFileDeletions(false); };
}

// Reverts one call of DB::DisableFileDeletions and returns the status of DB::EnableFileDeletions. Files stay
// until every call is reverted.
template <typename Database>
rocksdb::Status EnableFileDeletions(Database* database) {
  if constexpr (QuarantinesFiles<Database>()) {
    return database->EnableFileDeletions();
  } else {
    return database->EnableFileDeletions(false);
  }
}

// Returns NotSupported for a database opened read-only, and OK otherwise. SetOptions is no test: RocksDB lets
// a read-only database change options, and then writes a MANIFEST.
inline rocksdb::Status CheckWritable(rocksdb::DB* db) {
  rocksdb::Status status = db->DisableFileDeletions();
  return status.ok() ? EnableFileDeletions(db) : status;
}

}  // namespace rocktune
