#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <rocksdb/version.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>
#if __has_include(<rocksdb/advanced_cache.h>)
#include <rocksdb/advanced_cache.h>  // where Cache's methods are since 8.1
#endif

// Everything in which RocksDB 7.8 and RocksDB 11 differ for rocktune is in this file, but for the members of
// rocksdb::DB that an FlsmStore overrides: they are in flsm/flsm_{reads,writes,refusals}.h.

namespace ROCKSDB_NAMESPACE {
// The part of RocksDB's own sync_point.h that tells its builds apart; see RocksDbAssertionsOn.
class SyncPoint {
 public:
  [[gnu::weak]] static SyncPoint* GetInstance();
};
}  // namespace ROCKSDB_NAMESPACE

namespace rocktune {

// Version of the RocksDB that is linked, which need not be that of the headers: "7.8.3".
inline std::string RocksDbVersion() { return rocksdb::GetRocksVersionAsString(true); }

// Whether the linked RocksDB was built with assertions. RocksDB compiles its sync points exactly where it
// compiles assert(), that is without NDEBUG, so a library that defines SyncPoint::GetInstance has both. The
// reference is weak: without such a definition its address is null, and it is never called.
inline bool RocksDbAssertionsOn() {
  rocksdb::SyncPoint* (*volatile get_instance)() = &rocksdb::SyncPoint::GetInstance;
  return get_instance != nullptr;
}

// Returns a hyper clock cache that sizes its table itself, or nullptr before RocksDB 9, which has none that
// is not experimental. `num_shard_bits` is -1 for RocksDB's own choice.
inline std::shared_ptr<rocksdb::Cache> NewHyperClockCache(std::size_t capacity_bytes, int num_shard_bits) {
#if ROCKSDB_MAJOR >= 9
  return rocksdb::HyperClockCacheOptions(capacity_bytes, 0, num_shard_bits).MakeSharedCache();
#else
  static_cast<void>(capacity_bytes);
  static_cast<void>(num_shard_bits);
  return nullptr;
#endif
}

// Opens a database with its default column family; DB::Open gives out a raw pointer in 7.8, a unique_ptr
// in 11.
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

// The same with several column families.
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

// Opens a database to be read alone, which may be open elsewhere.
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

// Whether RocksDB orders the tables of level 0 by epoch numbers, and not by the sequence numbers in them.
template <typename File = rocksdb::SstFileMetaData>
constexpr bool OrdersLevel0ByEpoch() {
  return requires(File file) { file.epoch_number; };
}

// Whether CompactFiles can move tables that overlap nothing instead of writing them anew.
template <typename Options = rocksdb::CompactionOptions>
constexpr bool MovesTables() {
  return requires(Options options) { options.allow_trivial_move; };
}

// Lets CompactFiles move tables where it can, and be called off by the flag; where there is none,
// DisableManualCompaction does that.
template <typename Options = rocksdb::CompactionOptions>
void AllowMovesAndCancelling(std::atomic<bool>* canceled, Options* options) {
  if constexpr (requires { options->allow_trivial_move; }) {
    options->allow_trivial_move = true;
  }
  if constexpr (requires { options->canceled; }) {
    options->canceled = canceled;
  }
}

// Whether RocksDB itself keeps files that a failed write of the MANIFEST may name, whatever wrote it. The
// versions that do have no EnableFileDeletions(force).
template <typename Database = rocksdb::DB>
constexpr bool QuarantinesFiles() {
  return !requires(Database * database) { database->EnableFileDeletions(false); };
}

// Takes back one DisableFileDeletions.
template <typename Database>
rocksdb::Status EndKeepingFiles(Database* database) {
  if constexpr (QuarantinesFiles<Database>()) {
    return database->EnableFileDeletions();
  } else {
    return database->EnableFileDeletions(false);
  }
}

}  // namespace rocktune
