#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <rocksdb/write_batch.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind_flsm_util.h"
#include "bound_flsm_reads.h"
#include "rocktune/flsm/flsm_json.h"
#include "rocktune/flsm_store.h"
#include "rocktune/runner/rocksdb_options.h"
#include "rocktune/runner/run_error.h"

namespace nb = nanobind;

namespace rocktune {

// A column family's name, its layout and its options. The layout is a JSON object of texts, the options are
// those of the worker's protocol.
using FamilyText = std::tuple<std::string, std::string, std::string>;
// A key and its value; nullopt deletes the key.
using Entry = std::pair<nb::bytes, std::optional<nb::bytes>>;

// A store for Python. It stays open until Close has been called and its snapshots, iterators and pilots are
// gone. All functions release the GIL while they wait for the store. They throw std::invalid_argument for a
// column family that the store does not have.
class BoundStore {
 public:
  // Opens or creates a store with its column families, of which the first is the default one. Its options are
  // the database's too. Creates families that the store does not have.
  BoundStore(const std::string& path, const std::vector<FamilyText>& families) {
    rocksdb::DBOptions options = OptionsOf(families.front());
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    std::vector<FlsmFamily> trees;
    for (const FamilyText& family : families) {
      trees.push_back({std::get<0>(family), OptionsOf(family), LayoutFromJson(std::get<1>(family))});
    }
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    std::unique_ptr<FlsmStore> store;
    rocksdb::Status status;
    {
      const nb::gil_scoped_release released_gil;
      status = FlsmStore::Open(options, path, trees, &handles, &store);
    }
    ThrowUnlessOk(status);
    store_ = std::move(store);
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      Keep(handle);
    }
  }

  // Returns the names of the column families.
  std::vector<std::string> Families() const {
    const StorePointer store = Opened();
    std::vector<std::string> names;
    for (const auto& [name, family] : families_) {
      names.push_back(name);
    }
    return names;
  }
  // Creates a column family.
  void CreateFamily(const FamilyText& family) {
    const auto& [name, layout_json, options_json] = family;
    const rocksdb::Options options = OptionsOf(family);
    const FlsmOptions layout = LayoutFromJson(layout_json);
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    Do([&](FlsmStore& store) { return store.CreateColumnFamily(options, name, layout, &handle); });
    if (store_ != nullptr) {  // not closed meanwhile
      Keep(handle);
    }
  }
  // Drops a column family. Its space is free when its iterators are gone.
  void DropFamily(const std::string& name) {
    const FamilyPointer family = Family(name);
    Do([&](FlsmStore& store) { return store.DropColumnFamily(family.get()); });
    families_.erase(name);
  }

  // Returns the value of a key, or nullopt if it does not exist.
  std::optional<nb::bytes> Get(const std::string& family_name, const nb::bytes& key,
                               const BoundSnapshot* snapshot) const {
    const StorePointer store = Opened();
    const FamilyPointer family = Family(family_name);
    rocksdb::PinnableSlice value;
    rocksdb::Status status;
    {
      const nb::gil_scoped_release released_gil;
      status = store->Get(ReadAt(snapshot), family.get(), SliceOf(key), &value);
    }
    if (status.IsNotFound()) {
      return std::nullopt;
    }
    ThrowUnlessOk(status);
    return BytesOf(value);
  }

  // Writes all entries, by column family, in one batch. An entry without a value deletes its key.
  void Write(const std::vector<std::pair<std::string, std::vector<Entry>>>& entries, bool sync) const {
    std::vector<FamilyPointer> used;
    rocksdb::WriteBatch batch;
    for (const auto& [name, of_family] : entries) {
      rocksdb::ColumnFamilyHandle* const family = used.emplace_back(Family(name)).get();
      for (const auto& [key, value] : of_family) {
        ThrowUnlessOk(value ? batch.Put(family, SliceOf(key), SliceOf(*value))
                            : batch.Delete(family, SliceOf(key)));
      }
    }
    rocksdb::WriteOptions options;
    options.sync = sync;
    Do([&](FlsmStore& store) { return store.Write(options, &batch); });
  }

  // Returns a snapshot of the present state of all column families.
  std::unique_ptr<BoundSnapshot> Snapshot() const { return std::make_unique<BoundSnapshot>(Opened()); }
  // Returns an iterator over the snapshot, or the present state if it is nullptr, from `start` (inclusive) to
  // `stop` (exclusive). nullopt means the first and the last key.
  std::unique_ptr<BoundIterator> Iterate(const std::string& family, const BoundSnapshot* snapshot,
                                         const std::optional<nb::bytes>& start,
                                         const std::optional<nb::bytes>& stop) const {
    return std::make_unique<BoundIterator>(Opened(), Family(family), snapshot, start, stop);
  }

  // Flushes the memtables of a column family and waits for the flush.
  void Flush(const std::string& family_name) const {
    const FamilyPointer family = Family(family_name);
    Do([&](FlsmStore& store) { return store.Flush(rocksdb::FlushOptions(), family.get()); });
  }
  // Waits until no compaction is due or running.
  void Settle() const {
    Do([](FlsmStore& store) { return store.WaitUntilSettled(); });
  }
  // Sets the policy of a level by a transition of the given name.
  void SetPolicy(const std::string& family_name, int level, int policy, const std::string& transition) const {
    const FamilyPointer family = Family(family_name);
    const FlsmTransition by = TransitionNamed(transition);
    Do([&](FlsmStore& store) { return store.SetPolicy(family.get(), level, policy, by); });
  }
  // Returns the shape of a column family as JSON.
  std::string Shape(const std::string& family) const {
    return ToJson(Opened()->Shape(Family(family).get())).dump();
  }
  // Returns the statistics of a column family as JSON.
  std::string Statistics(const std::string& family) const {
    return ToJson(Opened()->Statistics(Family(family).get())).dump();
  }

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
    std::map<std::string, FamilyPointer> families = std::exchange(families_, {});
    const nb::gil_scoped_release released_gil;
    families.clear();
    closing.reset();
  }

 private:
  // Returns the options of a column family, with those of the database if its text has them. Throws
  // std::invalid_argument for options that RocksDB does not know or take.
  static rocksdb::Options OptionsOf(const FamilyText& family) {
    try {
      return OptionsFromMaps(OptionMapsFromJson(nlohmann::json::parse(std::get<2>(family))));
    } catch (const RunError& error) {
      throw std::invalid_argument(error.what());
    }
  }

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

  // Adds a column family of the open store.
  void Keep(rocksdb::ColumnFamilyHandle* handle) {
    const auto give_back = [store = store_](rocksdb::ColumnFamilyHandle* family) {
      store->DestroyColumnFamilyHandle(family).PermitUncheckedError();
    };
    families_[handle->GetName()] = FamilyPointer(handle, give_back);
  }

  // Returns a column family. Throws std::runtime_error once the store is closed.
  FamilyPointer Family(const std::string& name) const {
    const StorePointer store = Opened();
    const auto family = families_.find(name);
    if (family == families_.end()) {
      throw std::invalid_argument("'" + name + "' is no column family of the store");
    }
    return family->second;
  }

  // Both are read and changed with the GIL held.
  StorePointer store_;
  std::map<std::string, FamilyPointer> families_;  // by name
};

}  // namespace rocktune
