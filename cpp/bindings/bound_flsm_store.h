#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <rocksdb/iterator.h>
#include <rocksdb/snapshot.h>
#include <rocksdb/write_batch.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bind_flsm_util.h"
#include "rocktune/flsm/flsm_json.h"
#include "rocktune/flsm_store.h"
#include "rocktune/runner/rocksdb_options.h"

namespace nb = nanobind;

namespace rocktune {

using StorePointer = std::shared_ptr<FlsmStore>;
// A key and its value; nullopt deletes the key.
using Entry = std::pair<nb::bytes, std::optional<nb::bytes>>;

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

// Adds the time of its scope to a store's busy time. A store does not measure its iterators.
class ScopedBusyTime {
 public:
  explicit ScopedBusyTime(FlsmStore* store) : store_(store), begin_(std::chrono::steady_clock::now()) {}
  ~ScopedBusyTime() {
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin_);
    store_->AddBusy(static_cast<uint64_t>(elapsed.count()));
  }
  ScopedBusyTime(const ScopedBusyTime&) = delete;
  ScopedBusyTime& operator=(const ScopedBusyTime&) = delete;

 private:
  FlsmStore* const store_;
  const std::chrono::steady_clock::time_point begin_;
};

// An iterator over the entries of a store in key order. It shares ownership of the store.
class BoundIterator {
 public:
  // Iterates from `start` (inclusive) to `stop` (exclusive); nullopt means the first and the last key.
  BoundIterator(StorePointer store, const BoundSnapshot* snapshot, const std::optional<nb::bytes>& start,
                const std::optional<nb::bytes>& stop)
      : store_(std::move(store)), stop_(stop ? SliceOf(*stop).ToString() : ""), bound_(stop_) {
    rocksdb::ReadOptions options = ReadAt(snapshot);
    if (stop) {
      options.iterate_upper_bound = &bound_;
    }
    const std::string from = start ? SliceOf(*start).ToString() : "";
    const nb::gil_scoped_release released_gil;
    const ScopedBusyTime busy_time(store_.get());
    iterator_.reset(store_->NewIterator(options));
    iterator_->Seek(from);
  }

  // Returns the next entries, at most `max_entries`, and fewer only at the end.
  std::vector<std::pair<nb::bytes, nb::bytes>> Next(std::size_t max_entries) {
    std::vector<std::pair<std::string, std::string>> found;
    {
      const nb::gil_scoped_release released_gil;
      const ScopedBusyTime busy_time(store_.get());
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
  const std::string stop_;
  const rocksdb::Slice bound_;
  std::unique_ptr<rocksdb::Iterator> iterator_;  // must be destroyed before store_
};

// A store for Python. It stays open until Close has been called and its snapshots, iterators and pilots are
// gone. All functions release the GIL while they wait for the store.
class BoundStore {
 public:
  // Opens or creates a store. The layout is a JSON object of texts, the options are those of the worker's
  // protocol.
  BoundStore(const std::string& path, const std::string& layout_json, const std::string& options_json) {
    rocksdb::Options options = OptionsFromMaps(OptionMapsFromJson(nlohmann::json::parse(options_json)));
    options.create_if_missing = true;
    const FlsmOptions layout = LayoutFromJson(layout_json);
    std::unique_ptr<FlsmStore> store;
    rocksdb::Status status;
    {
      const nb::gil_scoped_release released_gil;
      status = FlsmStore::Open(options, layout, path, &store);
    }
    ThrowUnlessOk(status);
    store_ = std::move(store);
  }

  // Returns the value of a key, or nullopt if it does not exist.
  std::optional<nb::bytes> Get(const nb::bytes& key, const BoundSnapshot* snapshot) const {
    const StorePointer store = Opened();
    rocksdb::PinnableSlice value;
    rocksdb::Status status;
    {
      const nb::gil_scoped_release released_gil;
      status = store->Get(ReadAt(snapshot), store->DefaultColumnFamily(), SliceOf(key), &value);
    }
    if (status.IsNotFound()) {
      return std::nullopt;
    }
    ThrowUnlessOk(status);
    return BytesOf(value);
  }

  // Writes all entries in one batch. An entry without a value deletes its key.
  void Write(const std::vector<Entry>& entries, bool sync) const {
    rocksdb::WriteBatch batch;
    for (const auto& [key, value] : entries) {
      ThrowUnlessOk(value ? batch.Put(SliceOf(key), SliceOf(*value)) : batch.Delete(SliceOf(key)));
    }
    rocksdb::WriteOptions options;
    options.sync = sync;
    Do([&](FlsmStore& store) { return store.Write(options, &batch); });
  }

  // Returns a snapshot of the present state.
  std::unique_ptr<BoundSnapshot> Snapshot() const { return std::make_unique<BoundSnapshot>(Opened()); }
  // Returns an iterator over the snapshot, or the present state if it is nullptr, from `start` (inclusive) to
  // `stop` (exclusive). nullopt means the first and the last key.
  std::unique_ptr<BoundIterator> Iterate(const BoundSnapshot* snapshot, const std::optional<nb::bytes>& start,
                                         const std::optional<nb::bytes>& stop) const {
    return std::make_unique<BoundIterator>(Opened(), snapshot, start, stop);
  }

  // Flushes the memtables and waits for the flush.
  void Flush() const {
    Do([](FlsmStore& store) { return store.Flush(rocksdb::FlushOptions()); });
  }
  // Waits until no compaction is due or running.
  void Settle() const {
    Do([](FlsmStore& store) { return store.WaitUntilSettled(); });
  }
  // Sets the policy of a level by a transition of the given name.
  void SetPolicy(int level, int policy, const std::string& transition) const {
    const FlsmTransition by = TransitionNamed(transition);
    Do([&](FlsmStore& store) { return store.SetPolicy(level, policy, by); });
  }
  // Returns the shape as JSON.
  std::string Shape() const { return ToJson(Opened()->Shape()).dump(); }
  // Returns the statistics as JSON.
  std::string Statistics() const { return ToJson(Opened()->Statistics()).dump(); }

  // Returns the open store. Throws std::runtime_error once it is closed.
  StorePointer Opened() const {
    if (store_ == nullptr) {
      throw std::runtime_error("the store is closed; open it again");
    }
    return store_;
  }

  // Gives up this object's ownership. May be repeated.
  void Close() {
    StorePointer closing = std::move(store_);
    const nb::gil_scoped_release released_gil;
    closing.reset();
  }

 private:
  // Calls an operation without the GIL and throws unless its status is OK.
  template <typename Operation>
  void Do(Operation operation) const {
    const StorePointer store = Opened();
    rocksdb::Status status;
    {
      const nb::gil_scoped_release released_gil;
      status = operation(*store);
    }
    ThrowUnlessOk(status);
  }

  StorePointer store_;
};

}  // namespace rocktune
