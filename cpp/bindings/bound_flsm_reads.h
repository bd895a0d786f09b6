#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <rocksdb/iterator.h>
#include <rocksdb/snapshot.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind_flsm_util.h"
#include "rocktune/flsm_store.h"

namespace nb = nanobind;

namespace rocktune {

using StorePointer = std::shared_ptr<FlsmStore>;
// A column family of an open store. It shares ownership of the store, to which it gives its handle back.
using FamilyPointer = std::shared_ptr<rocksdb::ColumnFamilyHandle>;

// A snapshot of a store. It shares ownership of the store, and releases the snapshot in the destructor.
class BoundSnapshot {
 public:
  explicit BoundSnapshot(StorePointer store) : store_(std::move(store)), snapshot_(store_->GetSnapshot()) {}
  ~BoundSnapshot() { store_->ReleaseSnapshot(snapshot_); }
  BoundSnapshot(const BoundSnapshot&) = delete;
  BoundSnapshot& operator=(const BoundSnapshot&) = delete;

  const rocksdb::Snapshot* get() const { return snapshot_; }

 private:
  StorePointer store_;
  const rocksdb::Snapshot* snapshot_;
};

// Returns options that read the snapshot, or the present state if it is nullptr.
inline rocksdb::ReadOptions ReadAt(const BoundSnapshot* snapshot) {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot == nullptr ? nullptr : snapshot->get();
  return options;
}

// Adds the time of its scope to a family's busy time. A store does not measure its iterators.
class ScopedBusyTime {
 public:
  ScopedBusyTime(FlsmStore* store, rocksdb::ColumnFamilyHandle* family)
      : store_(store), family_(family), begin_(std::chrono::steady_clock::now()) {}
  ~ScopedBusyTime() {
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin_);
    store_->AddBusy(family_, static_cast<uint64_t>(elapsed.count()));
  }
  ScopedBusyTime(const ScopedBusyTime&) = delete;
  ScopedBusyTime& operator=(const ScopedBusyTime&) = delete;

 private:
  FlsmStore* const store_;
  rocksdb::ColumnFamilyHandle* const family_;
  const std::chrono::steady_clock::time_point begin_;
};

// An iterator over the entries of a column family in key order. It shares ownership of the store.
class BoundIterator {
 public:
  // Iterates from `start` (inclusive) to `stop` (exclusive); nullopt means the first and the last key.
  BoundIterator(StorePointer store, FamilyPointer family, const BoundSnapshot* snapshot,
                const std::optional<nb::bytes>& start, const std::optional<nb::bytes>& stop)
      : store_(std::move(store)),
        family_(std::move(family)),
        stop_(stop ? SliceOf(*stop).ToString() : ""),
        bound_(stop_) {
    rocksdb::ReadOptions options = ReadAt(snapshot);
    if (stop) {
      options.iterate_upper_bound = &bound_;
    }
    const std::string from = start ? SliceOf(*start).ToString() : "";
    const nb::gil_scoped_release released_gil;
    const ScopedBusyTime busy_time(store_.get(), family_.get());
    iterator_.reset(store_->NewIterator(options, family_.get()));
    iterator_->Seek(from);
  }

  // Returns the next entries, at most `max_entries`, and fewer only at the end.
  std::vector<std::pair<nb::bytes, nb::bytes>> Next(std::size_t max_entries) {
    std::vector<std::pair<std::string, std::string>> found;
    {
      const nb::gil_scoped_release released_gil;
      const ScopedBusyTime busy_time(store_.get(), family_.get());
      for (; found.size() < max_entries && iterator_->Valid(); iterator_->Next()) {
        found.emplace_back(iterator_->key().ToString(), iterator_->value().ToString());
      }
    }
    ThrowUnlessOk(iterator_->status());
    std::vector<std::pair<nb::bytes, nb::bytes>> entries;
    entries.reserve(found.size());
    for (const auto& [key, value] : found) {
      entries.emplace_back(BytesOf(key), BytesOf(value));
    }
    return entries;
  }

 private:
  StorePointer store_;
  FamilyPointer family_;
  const std::string stop_;
  const rocksdb::Slice bound_;
  std::unique_ptr<rocksdb::Iterator> iterator_;  // must be destroyed before store_
};

}  // namespace rocktune
