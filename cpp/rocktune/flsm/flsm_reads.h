#pragma once

#include <rocksdb/db.h>
#include <rocksdb/version.h>
#include <rocksdb/wide_columns.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rocktune/flsm/flsm_recorder.h"
#include "rocktune/flsm_store.h"
#if ROCKSDB_MAJOR >= 11
#include <rocksdb/attribute_groups.h>
#include <rocksdb/iterator.h>
#endif

namespace rocktune {

// Returns the class that declares Get with a timestamp. In RocksDB 11 it is StackableDB: that Get and the
// MultiGet with timestamps are the only ones to override, since all others are final and call them. In
// RocksDB 7.8 it is DB, and each overload must be overridden.
template <typename Owner>
std::type_identity<Owner> OwnerOfTimestampedGet(
    rocksdb::Status (Owner::*)(const rocksdb::ReadOptions&, rocksdb::ColumnFamilyHandle*,
                               const rocksdb::Slice&, rocksdb::PinnableSlice*, std::string*));
inline constexpr bool kGetsForwardTimestamps =
    std::is_same_v<decltype(OwnerOfTimestampedGet(&rocksdb::StackableDB::Get)),
                   std::type_identity<rocksdb::StackableDB>>;

// Returns the number of statuses that are OK.
inline uint64_t CountOk(const rocksdb::Status* statuses, std::size_t count) {
  return static_cast<uint64_t>(
      std::count_if(statuses, statuses + count, [](const rocksdb::Status& status) { return status.ok(); }));
}

// Get and MultiGet of an FlsmStore: RocksDB's own, counted by a recorder. `Base` is FlsmStore. This is the
// variant for RocksDB 7.8; a template, because only one of the two variants compiles with a given version.
template <typename Base, bool kForwardsTimestamps = kGetsForwardTimestamps>
class FlsmKeyReads : public Base {
  using Family = rocksdb::ColumnFamilyHandle;
  using Keys = std::vector<rocksdb::Slice>;
  using Families = std::vector<Family*>;
  using Strings = std::vector<std::string>;
  using Statuses = std::vector<rocksdb::Status>;

 public:
  FlsmKeyReads(rocksdb::DB* db, FlsmRecorder* recorder) : Base(db), recorder_(recorder) {}

  using Base::Get;
  rocksdb::Status Get(const rocksdb::ReadOptions& options, Family* family, const rocksdb::Slice& key,
                      rocksdb::PinnableSlice* value) override {
    return recorder_->Lookup([&] { return this->db_->Get(options, family, key, value); });
  }
  rocksdb::Status Get(const rocksdb::ReadOptions& options, Family* family, const rocksdb::Slice& key,
                      rocksdb::PinnableSlice* value, std::string* timestamp) override {
    return recorder_->Lookup([&] { return this->db_->Get(options, family, key, value, timestamp); });
  }

  using Base::MultiGet;
  Statuses MultiGet(const rocksdb::ReadOptions& options, const Families& families, const Keys& keys,
                    Strings* values) override {
    return CountVector(keys.size(), [&] { return this->db_->MultiGet(options, families, keys, values); });
  }
  Statuses MultiGet(const rocksdb::ReadOptions& options, const Families& families, const Keys& keys,
                    Strings* values, Strings* timestamps) override {
    return CountVector(keys.size(),
                       [&] { return this->db_->MultiGet(options, families, keys, values, timestamps); });
  }
  void MultiGet(const rocksdb::ReadOptions& options, Family* family, const size_t count,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values, rocksdb::Status* statuses,
                const bool sorted = false) override {
    CountArray(count, statuses,
               [&] { this->db_->MultiGet(options, family, count, keys, values, statuses, sorted); });
  }
  void MultiGet(const rocksdb::ReadOptions& options, Family* family, const size_t count,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values, std::string* timestamps,
                rocksdb::Status* statuses, const bool sorted = false) override {
    CountArray(count, statuses, [&] {
      this->db_->MultiGet(options, family, count, keys, values, timestamps, statuses, sorted);
    });
  }
  void MultiGet(const rocksdb::ReadOptions& options, const size_t count, Family** families,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values, rocksdb::Status* statuses,
                const bool sorted = false) override {
    CountArray(count, statuses,
               [&] { this->db_->MultiGet(options, count, families, keys, values, statuses, sorted); });
  }
  void MultiGet(const rocksdb::ReadOptions& options, const size_t count, Family** families,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values, std::string* timestamps,
                rocksdb::Status* statuses, const bool sorted = false) override {
    CountArray(count, statuses, [&] {
      this->db_->MultiGet(options, count, families, keys, values, timestamps, statuses, sorted);
    });
  }

 private:
  // Calls `get`, which returns a status for each of `count` keys, and records the lookups.
  template <typename Lookup>
  Statuses CountVector(std::size_t count, const Lookup& get) {
    Statuses statuses;
    recorder_->Lookups(count, [&] {
      statuses = get();
      return CountOk(statuses.data(), statuses.size());
    });
    return statuses;
  }
  // Calls `get`, which sets a status for each of `count` keys, and records the lookups.
  template <typename Lookup>
  void CountArray(std::size_t count, const rocksdb::Status* statuses, const Lookup& get) {
    recorder_->Lookups(count, [&] {
      get();
      return CountOk(statuses, count);
    });
  }

  FlsmRecorder* const recorder_;
};

// The variant for RocksDB 11.
template <typename Base>
class FlsmKeyReads<Base, true> : public Base {
 public:
  FlsmKeyReads(rocksdb::DB* db, FlsmRecorder* recorder) : Base(db), recorder_(recorder) {}

  using Base::Get;
  rocksdb::Status Get(const rocksdb::ReadOptions& options, rocksdb::ColumnFamilyHandle* family,
                      const rocksdb::Slice& key, rocksdb::PinnableSlice* value,
                      std::string* timestamp) override {
    return recorder_->Lookup([&] { return this->db_->Get(options, family, key, value, timestamp); });
  }
  using Base::MultiGet;
  void MultiGet(const rocksdb::ReadOptions& options, const size_t count,
                rocksdb::ColumnFamilyHandle** families, const rocksdb::Slice* keys,
                rocksdb::PinnableSlice* values, std::string* timestamps, rocksdb::Status* statuses,
                const bool sorted = false) override {
    recorder_->Lookups(count, [&] {
      this->db_->MultiGet(options, count, families, keys, values, timestamps, statuses, sorted);
      return CountOk(statuses, count);
    });
  }

 private:
  FlsmRecorder* const recorder_;
};

// The reads of an FlsmStore: Get, MultiGet, GetEntity, GetMergeOperands and iterators, counted by a recorder.
// KeyMayExist reads no table and is not counted.
class FlsmReads : public FlsmKeyReads<FlsmStore> {
  using Base = FlsmKeyReads<FlsmStore>;
  using Family = rocksdb::ColumnFamilyHandle;

 public:
  FlsmReads(rocksdb::DB* db, FlsmRecorder* recorder) : Base(db, recorder), recorder_(recorder) {}

  using Base::GetEntity;
  rocksdb::Status GetEntity(const rocksdb::ReadOptions& options, Family* family, const rocksdb::Slice& key,
                            rocksdb::PinnableWideColumns* columns) override {
    return recorder_->Lookup([&] { return db_->GetEntity(options, family, key, columns); });
  }
  using Base::GetMergeOperands;
  rocksdb::Status GetMergeOperands(const rocksdb::ReadOptions& options, Family* family,
                                   const rocksdb::Slice& key, rocksdb::PinnableSlice* operands,
                                   rocksdb::GetMergeOperandsOptions* how, int* count) override {
    return recorder_->Lookup(
        [&] { return db_->GetMergeOperands(options, family, key, operands, how, count); });
  }

  using Base::NewIterator;
  rocksdb::Iterator* NewIterator(const rocksdb::ReadOptions& options, Family* family) override {
    CountIterators(1);
    return db_->NewIterator(options, family);
  }
  rocksdb::Status NewIterators(const rocksdb::ReadOptions& options, const std::vector<Family*>& families,
                               std::vector<rocksdb::Iterator*>* iterators) override {
    CountIterators(families.size());
    return db_->NewIterators(options, families, iterators);
  }

#if ROCKSDB_MAJOR >= 11
  using Groups = rocksdb::PinnableAttributeGroups;

  rocksdb::Status GetEntity(const rocksdb::ReadOptions& options, const rocksdb::Slice& key,
                            Groups* result) override {
    return recorder_->Lookup([&] { return db_->GetEntity(options, key, result); });
  }
  using Base::MultiGetEntity;
  void MultiGetEntity(const rocksdb::ReadOptions& options, Family* family, size_t count,
                      const rocksdb::Slice* keys, rocksdb::PinnableWideColumns* results,
                      rocksdb::Status* statuses, bool sorted = false) override {
    recorder_->Lookups(count, [&] {
      db_->MultiGetEntity(options, family, count, keys, results, statuses, sorted);
      return CountOk(statuses, count);
    });
  }
  void MultiGetEntity(const rocksdb::ReadOptions& options, size_t count, Family** families,
                      const rocksdb::Slice* keys, rocksdb::PinnableWideColumns* results,
                      rocksdb::Status* statuses, bool sorted = false) override {
    recorder_->Lookups(count, [&] {
      db_->MultiGetEntity(options, count, families, keys, results, statuses, sorted);
      return CountOk(statuses, count);
    });
  }
  void MultiGetEntity(const rocksdb::ReadOptions& options, size_t count, const rocksdb::Slice* keys,
                      Groups* results) override {
    recorder_->Lookups(count, [&] {
      db_->MultiGetEntity(options, count, keys, results);
      return static_cast<uint64_t>(std::count_if(results, results + count, [](const Groups& groups) {
        return std::any_of(groups.begin(), groups.end(),
                           [](const rocksdb::PinnableAttributeGroup& group) { return group.status().ok(); });
      }));
    });
  }
  using Base::NewCoalescingIterator;
  std::unique_ptr<rocksdb::Iterator> NewCoalescingIterator(const rocksdb::ReadOptions& options,
                                                           const std::vector<Family*>& families) override {
    CountIterators(families.size());
    return db_->NewCoalescingIterator(options, families);
  }
  using Base::NewAttributeGroupIterator;
  std::unique_ptr<rocksdb::AttributeGroupIterator> NewAttributeGroupIterator(
      const rocksdb::ReadOptions& options, const std::vector<Family*>& families) override {
    CountIterators(families.size());
    return db_->NewAttributeGroupIterator(options, families);
  }
  using Base::NewMultiScan;
  std::unique_ptr<rocksdb::MultiScan> NewMultiScan(const rocksdb::ReadOptions& options, Family* family,
                                                   const rocksdb::MultiScanArgs& scans) override {
    CountIterators(1);
    return db_->NewMultiScan(options, family, scans);
  }
#endif

 protected:
  // Called before iterators are created.
  virtual void CountIterators(uint64_t count) = 0;

 private:
  FlsmRecorder* const recorder_;
};

}  // namespace rocktune
