#pragma once

#include <rocksdb/db.h>
#include <rocksdb/version.h>
#include <rocksdb/wide_columns.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rocktune/flsm/flsm_trees.h"
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

// What all calls of an FlsmStore have in common: its column families, and the recorders of their statistics.
class FlsmServing : public FlsmStore {
 protected:
  using FlsmStore::FlsmStore;

  FlsmRecorder* RecorderOf(const rocksdb::ColumnFamilyHandle* family) { return trees_.RecorderOf(family); }
  // Calls `get`, which looks up `count` keys, the first one in families[0] and so on, and returns an array of
  // their statuses. Records the lookups.
  template <typename Operation>
  void LookupsOver(std::size_t count, rocksdb::ColumnFamilyHandle* const* families, const Operation& get);

  FlsmTrees trees_;
};

template <typename Operation>
void FlsmServing::LookupsOver(std::size_t count, rocksdb::ColumnFamilyHandle* const* families,
                              const Operation& get) {
  if (std::all_of(families, families + count, [&](const auto* each) { return each == families[0]; })) {
    RecorderOf(count == 0 ? nullptr : families[0])->Lookups(count, [&] { return CountOk(get(), count); });
    return;
  }
  std::map<FlsmRecorder*, uint64_t> keys;
  for (std::size_t place = 0; place < count; ++place) {
    ++keys[RecorderOf(families[place])];
  }
  std::vector<FlsmShare> sampled;
  for (const auto& [recorder, of_family] : keys) {
    if (const uint64_t represented = recorder->CountLookups(of_family); represented > 0) {
      sampled.push_back(
          {recorder, represented, static_cast<double>(represented) / static_cast<double>(count)});
    }
  }
  const rocksdb::Status* statuses = nullptr;
  FlsmRecorder::TimeShared(sampled, [&] { statuses = get(); });
  for (std::size_t place = 0; place < count; ++place) {
    RecorderOf(families[place])->CountFound(statuses[place].ok() ? 1 : 0);
  }
}

// Get and MultiGet of an FlsmStore: RocksDB's own, counted by recorders. `Base` is FlsmServing. This is the
// variant for RocksDB 7.8; a template, because only one of the two variants compiles with a given version.
template <typename Base, bool kForwardsTimestamps = kGetsForwardTimestamps>
class FlsmKeyReads : public Base {
  using Family = rocksdb::ColumnFamilyHandle;
  using Keys = std::vector<rocksdb::Slice>;
  using Families = std::vector<Family*>;
  using Strings = std::vector<std::string>;
  using Statuses = std::vector<rocksdb::Status>;

 public:
  using Base::Base;

  using Base::Get;
  rocksdb::Status Get(const rocksdb::ReadOptions& options, Family* family, const rocksdb::Slice& key,
                      rocksdb::PinnableSlice* value) override {
    return this->RecorderOf(family)->Lookup([&] { return this->db_->Get(options, family, key, value); });
  }
  rocksdb::Status Get(const rocksdb::ReadOptions& options, Family* family, const rocksdb::Slice& key,
                      rocksdb::PinnableSlice* value, std::string* timestamp) override {
    return this->RecorderOf(family)->Lookup(
        [&] { return this->db_->Get(options, family, key, value, timestamp); });
  }

  using Base::MultiGet;
  Statuses MultiGet(const rocksdb::ReadOptions& options, const Families& families, const Keys& keys,
                    Strings* values) override {
    return CountVector(families, [&] { return this->db_->MultiGet(options, families, keys, values); });
  }
  Statuses MultiGet(const rocksdb::ReadOptions& options, const Families& families, const Keys& keys,
                    Strings* values, Strings* timestamps) override {
    return CountVector(families,
                       [&] { return this->db_->MultiGet(options, families, keys, values, timestamps); });
  }
  void MultiGet(const rocksdb::ReadOptions& options, Family* family, const size_t count,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values, rocksdb::Status* statuses,
                const bool sorted = false) override {
    this->RecorderOf(family)->Lookups(count, [&] {
      this->db_->MultiGet(options, family, count, keys, values, statuses, sorted);
      return CountOk(statuses, count);
    });
  }
  void MultiGet(const rocksdb::ReadOptions& options, Family* family, const size_t count,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values, std::string* timestamps,
                rocksdb::Status* statuses, const bool sorted = false) override {
    this->RecorderOf(family)->Lookups(count, [&] {
      this->db_->MultiGet(options, family, count, keys, values, timestamps, statuses, sorted);
      return CountOk(statuses, count);
    });
  }
  void MultiGet(const rocksdb::ReadOptions& options, const size_t count, Family** families,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values, rocksdb::Status* statuses,
                const bool sorted = false) override {
    CountArray(count, families, statuses,
               [&] { this->db_->MultiGet(options, count, families, keys, values, statuses, sorted); });
  }
  void MultiGet(const rocksdb::ReadOptions& options, const size_t count, Family** families,
                const rocksdb::Slice* keys, rocksdb::PinnableSlice* values, std::string* timestamps,
                rocksdb::Status* statuses, const bool sorted = false) override {
    CountArray(count, families, statuses, [&] {
      this->db_->MultiGet(options, count, families, keys, values, timestamps, statuses, sorted);
    });
  }

 private:
  // Calls `get`, which returns a status for each key, and records the lookups.
  template <typename LookUp>
  Statuses CountVector(const Families& families, const LookUp& get) {
    Statuses statuses;
    this->LookupsOver(families.size(), families.data(), [&] {
      statuses = get();
      return statuses.data();
    });
    return statuses;
  }
  // Calls `get`, which sets a status for each of `count` keys, and records the lookups.
  template <typename LookUp>
  void CountArray(std::size_t count, Family* const* families, const rocksdb::Status* statuses,
                  const LookUp& get) {
    this->LookupsOver(count, families, [&] {
      get();
      return statuses;
    });
  }
};

// The variant for RocksDB 11.
template <typename Base>
class FlsmKeyReads<Base, true> : public Base {
 public:
  using Base::Base;

  using Base::Get;
  rocksdb::Status Get(const rocksdb::ReadOptions& options, rocksdb::ColumnFamilyHandle* family,
                      const rocksdb::Slice& key, rocksdb::PinnableSlice* value,
                      std::string* timestamp) override {
    return this->RecorderOf(family)->Lookup(
        [&] { return this->db_->Get(options, family, key, value, timestamp); });
  }
  using Base::MultiGet;
  void MultiGet(const rocksdb::ReadOptions& options, const size_t count,
                rocksdb::ColumnFamilyHandle** families, const rocksdb::Slice* keys,
                rocksdb::PinnableSlice* values, std::string* timestamps, rocksdb::Status* statuses,
                const bool sorted = false) override {
    this->LookupsOver(count, families, [&] {
      this->db_->MultiGet(options, count, families, keys, values, timestamps, statuses, sorted);
      return statuses;
    });
  }
};

// The reads of an FlsmStore: Get, MultiGet, GetEntity, GetMergeOperands and iterators, counted by recorders.
// KeyMayExist reads no table and is not counted.
class FlsmReads : public FlsmKeyReads<FlsmServing> {
  using Base = FlsmKeyReads<FlsmServing>;
  using Family = rocksdb::ColumnFamilyHandle;

 public:
  using Base::Base;

  using Base::GetEntity;
  rocksdb::Status GetEntity(const rocksdb::ReadOptions& options, Family* family, const rocksdb::Slice& key,
                            rocksdb::PinnableWideColumns* columns) override {
    return RecorderOf(family)->Lookup([&] { return db_->GetEntity(options, family, key, columns); });
  }
  using Base::GetMergeOperands;
  rocksdb::Status GetMergeOperands(const rocksdb::ReadOptions& options, Family* family,
                                   const rocksdb::Slice& key, rocksdb::PinnableSlice* operands,
                                   rocksdb::GetMergeOperandsOptions* how, int* count) override {
    return RecorderOf(family)->Lookup(
        [&] { return db_->GetMergeOperands(options, family, key, operands, how, count); });
  }

  using Base::NewIterator;
  rocksdb::Iterator* NewIterator(const rocksdb::ReadOptions& options, Family* family) override {
    CountIterators(family);
    return db_->NewIterator(options, family);
  }
  rocksdb::Status NewIterators(const rocksdb::ReadOptions& options, const std::vector<Family*>& families,
                               std::vector<rocksdb::Iterator*>* iterators) override {
    CountIteratorsOver(families);
    return db_->NewIterators(options, families, iterators);
  }

#if ROCKSDB_MAJOR >= 11
  using Groups = rocksdb::PinnableAttributeGroups;

  rocksdb::Status GetEntity(const rocksdb::ReadOptions& options, const rocksdb::Slice& key,
                            Groups* result) override {
    std::vector<Family*> families;
    for (const rocksdb::PinnableAttributeGroup& group : *result) {
      families.push_back(group.column_family());
    }
    rocksdb::Status status;
    std::vector<rocksdb::Status> statuses;
    LookupsOver(families.size(), families.data(), [&] {
      status = db_->GetEntity(options, key, result);
      AppendStatuses(*result, &statuses);
      return statuses.data();
    });
    return status;
  }
  using Base::MultiGetEntity;
  void MultiGetEntity(const rocksdb::ReadOptions& options, Family* family, size_t count,
                      const rocksdb::Slice* keys, rocksdb::PinnableWideColumns* results,
                      rocksdb::Status* statuses, bool sorted = false) override {
    RecorderOf(family)->Lookups(count, [&] {
      db_->MultiGetEntity(options, family, count, keys, results, statuses, sorted);
      return CountOk(statuses, count);
    });
  }
  void MultiGetEntity(const rocksdb::ReadOptions& options, size_t count, Family** families,
                      const rocksdb::Slice* keys, rocksdb::PinnableWideColumns* results,
                      rocksdb::Status* statuses, bool sorted = false) override {
    LookupsOver(count, families, [&] {
      db_->MultiGetEntity(options, count, families, keys, results, statuses, sorted);
      return statuses;
    });
  }
  void MultiGetEntity(const rocksdb::ReadOptions& options, size_t count, const rocksdb::Slice* keys,
                      Groups* results) override {
    std::vector<Family*> families;
    for (size_t key = 0; key < count; ++key) {
      for (const rocksdb::PinnableAttributeGroup& group : results[key]) {
        families.push_back(group.column_family());
      }
    }
    std::vector<rocksdb::Status> statuses;
    LookupsOver(families.size(), families.data(), [&] {
      db_->MultiGetEntity(options, count, keys, results);
      std::for_each(results, results + count,
                    [&statuses](const Groups& groups) { AppendStatuses(groups, &statuses); });
      return statuses.data();
    });
  }
  using Base::NewCoalescingIterator;
  std::unique_ptr<rocksdb::Iterator> NewCoalescingIterator(const rocksdb::ReadOptions& options,
                                                           const std::vector<Family*>& families) override {
    CountIteratorsOver(families);
    return db_->NewCoalescingIterator(options, families);
  }
  using Base::NewAttributeGroupIterator;
  std::unique_ptr<rocksdb::AttributeGroupIterator> NewAttributeGroupIterator(
      const rocksdb::ReadOptions& options, const std::vector<Family*>& families) override {
    CountIteratorsOver(families);
    return db_->NewAttributeGroupIterator(options, families);
  }
  using Base::NewMultiScan;
  std::unique_ptr<rocksdb::MultiScan> NewMultiScan(const rocksdb::ReadOptions& options, Family* family,
                                                   const rocksdb::MultiScanArgs& scans) override {
    CountIterators(family);
    return db_->NewMultiScan(options, family, scans);
  }
#endif

 protected:
  // Called before an iterator over a family is created.
  virtual void CountIterators(Family* family) = 0;

 private:
  void CountIteratorsOver(const std::vector<Family*>& families) {
    std::for_each(families.begin(), families.end(), [this](Family* family) { CountIterators(family); });
  }
#if ROCKSDB_MAJOR >= 11
  static void AppendStatuses(const Groups& groups, std::vector<rocksdb::Status>* statuses) {
    std::transform(groups.begin(), groups.end(), std::back_inserter(*statuses),
                   [](const rocksdb::PinnableAttributeGroup& group) { return group.status(); });
  }
#endif
};

}  // namespace rocktune
