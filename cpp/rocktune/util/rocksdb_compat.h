#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/stackable_db.h>
#include <rocksdb/version.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#if __has_include(<rocksdb/advanced_cache.h>)
#include <rocksdb/advanced_cache.h>  // where Cache's methods are since 8.1
#endif

// Everything in which RocksDB 7.8 and RocksDB 11 differ for rocktune is in this file.

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

// Whose member the lookup with a timestamp is. In RocksDB 11 StackableDB forwards it and all other lookups of
// one key are final and go through it; in 7.8 it does not, and the one without a timestamp is to be
// overridden.
template <typename Owner>
std::type_identity<Owner> OwnerOfTimedGet(rocksdb::Status (Owner::*)(const rocksdb::ReadOptions&,
                                                                     rocksdb::ColumnFamilyHandle*,
                                                                     const rocksdb::Slice&,
                                                                     rocksdb::PinnableSlice*, std::string*));
inline constexpr bool kAllGetsAreTimed = std::is_same_v<decltype(OwnerOfTimedGet(&rocksdb::StackableDB::Get)),
                                                        std::type_identity<rocksdb::StackableDB>>;

// A database that has a recorder do its lookups of one key: `recorder->Lookup(get)` returns what get() does.
template <typename Recorder, typename Base = rocksdb::StackableDB, bool kTimed = kAllGetsAreTimed>
class RecordedLookups : public Base {
 public:
  RecordedLookups(rocksdb::DB* db, Recorder* recorder) : Base(db), recorder_(recorder) {}

  using Base::Get;
  rocksdb::Status Get(const rocksdb::ReadOptions& options, rocksdb::ColumnFamilyHandle* family,
                      const rocksdb::Slice& key, rocksdb::PinnableSlice* value) override {
    return recorder_->Lookup([&] { return Base::Get(options, family, key, value); });
  }

 private:
  Recorder* const recorder_;
};

template <typename Recorder, typename Base>
class RecordedLookups<Recorder, Base, true> : public Base {
 public:
  RecordedLookups(rocksdb::DB* db, Recorder* recorder) : Base(db), recorder_(recorder) {}

  using Base::Get;
  rocksdb::Status Get(const rocksdb::ReadOptions& options, rocksdb::ColumnFamilyHandle* family,
                      const rocksdb::Slice& key, rocksdb::PinnableSlice* value,
                      std::string* timestamp) override {
    return recorder_->Lookup([&] { return Base::Get(options, family, key, value, timestamp); });
  }

 private:
  Recorder* const recorder_;
};

}  // namespace rocktune
