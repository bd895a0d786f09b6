#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <rocksdb/iterator.h>
#include <rocksdb/snapshot.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "rocktune/flsm/flsm_filters.h"
#include "rocktune/flsm/flsm_json.h"
#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/flsm/flsm_options_map.h"
#include "rocktune/flsm/flsm_pilot.h"
#include "rocktune/flsm/flsm_simulator.h"
#include "rocktune/flsm_store.h"
#include "rocktune/runner/rocksdb_options.h"
#include "rocktune/util/rocksdb_compat.h"

namespace nb = nanobind;

namespace rocktune {
namespace {

using StorePointer = std::shared_ptr<FlsmStore>;
using Entry = std::pair<nb::bytes, std::optional<nb::bytes>>;

// What the caller can mend is a ValueError in Python, all else a RuntimeError.
void ThrowUnlessOk(const rocksdb::Status& status) {
  if (status.IsInvalidArgument()) {
    throw std::invalid_argument(status.ToString());
  }
  if (!status.ok()) {
    throw std::runtime_error(status.ToString());
  }
}

rocksdb::Slice SliceOf(const nb::bytes& text) { return {text.c_str(), text.size()}; }
nb::bytes BytesOf(const rocksdb::Slice& slice) { return nb::bytes(slice.data(), slice.size()); }

FlsmOptions LayoutFromJson(const std::string& text) {
  return FlsmOptionsFromMap(nlohmann::json::parse(text).get<SettingsMap>());
}

// A moment of a store, held until this is gone.
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

rocksdb::ReadOptions ReadAt(const BoundSnapshot* snapshot) {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot == nullptr ? nullptr : snapshot->get();
  return options;
}

// Tells a store how long its iterators took, which it does not see by itself.
class Busy {
 public:
  explicit Busy(FlsmStore* store) : store_(store), begun_(std::chrono::steady_clock::now()) {}
  ~Busy() {
    const auto took =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begun_);
    store_->AddBusy(static_cast<uint64_t>(took.count()));
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  FlsmStore* const store_;
  const std::chrono::steady_clock::time_point begun_;
};

// Entries in order, handed out in parts.
class BoundIterator {
 public:
  BoundIterator(StorePointer store, const BoundSnapshot* snapshot, const std::optional<nb::bytes>& start,
                const std::optional<nb::bytes>& stop)
      : store_(std::move(store)), stop_(stop ? SliceOf(*stop).ToString() : ""), bound_(stop_) {
    rocksdb::ReadOptions options = ReadAt(snapshot);
    if (stop) {
      options.iterate_upper_bound = &bound_;
    }
    const std::string from = start ? SliceOf(*start).ToString() : "";
    const nb::gil_scoped_release others_go_on;
    const Busy busy(store_.get());
    iterator_.reset(store_->NewIterator(options));
    iterator_->Seek(from);
  }

  // At most so many; fewer than that only at the end.
  std::vector<std::pair<nb::bytes, nb::bytes>> Next(std::size_t most) {
    std::vector<std::pair<std::string, std::string>> found;
    {
      const nb::gil_scoped_release others_go_on;
      const Busy busy(store_.get());
      for (; found.size() < most && iterator_->Valid(); iterator_->Next()) {
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
  std::unique_ptr<rocksdb::Iterator> iterator_;  // ends before the store
};

// A store that is open until it is closed and nothing that came from it is left.
class BoundStore {
 public:
  BoundStore(const std::string& path, const std::string& layout_json, const std::string& options_json) {
    rocksdb::Options options = OptionsFromMaps(OptionMapsFromJson(nlohmann::json::parse(options_json)));
    options.create_if_missing = true;
    const FlsmOptions layout = LayoutFromJson(layout_json);
    std::unique_ptr<FlsmStore> store;
    rocksdb::Status status;
    {
      const nb::gil_scoped_release others_go_on;
      status = FlsmStore::Open(options, layout, path, &store);
    }
    ThrowUnlessOk(status);
    store_ = std::move(store);
  }

  std::optional<nb::bytes> Get(const nb::bytes& key, const BoundSnapshot* snapshot) const {
    const StorePointer store = Opened();
    rocksdb::PinnableSlice value;
    rocksdb::Status status;
    {
      const nb::gil_scoped_release others_go_on;
      status = store->Get(ReadAt(snapshot), store->DefaultColumnFamily(), SliceOf(key), &value);
    }
    if (status.IsNotFound()) {
      return std::nullopt;
    }
    ThrowUnlessOk(status);
    return BytesOf(value);
  }

  // An entry without a value is deleted.
  void Write(const std::vector<Entry>& entries, bool sync) const {
    rocksdb::WriteBatch batch;
    for (const auto& [key, value] : entries) {
      ThrowUnlessOk(value ? batch.Put(SliceOf(key), SliceOf(*value)) : batch.Delete(SliceOf(key)));
    }
    rocksdb::WriteOptions options;
    options.sync = sync;
    Do([&](FlsmStore& store) { return store.Write(options, &batch); });
  }

  std::unique_ptr<BoundSnapshot> Snapshot() const { return std::make_unique<BoundSnapshot>(Opened()); }
  std::unique_ptr<BoundIterator> Iterate(const BoundSnapshot* snapshot, const std::optional<nb::bytes>& start,
                                         const std::optional<nb::bytes>& stop) const {
    return std::make_unique<BoundIterator>(Opened(), snapshot, start, stop);
  }

  void Flush() const {
    Do([](FlsmStore& store) { return store.Flush(rocksdb::FlushOptions()); });
  }
  void Settle() const {
    Do([](FlsmStore& store) { return store.WaitUntilSettled(); });
  }
  void SetPolicy(int level, int policy, const std::string& transition) const {
    const FlsmTransition how = TransitionNamed(transition);
    Do([&](FlsmStore& store) { return store.SetPolicy(level, policy, how); });
  }
  std::string Shape() const { return ToJson(Opened()->Shape()).dump(); }
  std::string Statistics() const { return ToJson(Opened()->Statistics()).dump(); }

  // Throws where it is closed.
  StorePointer Opened() const {
    if (store_ == nullptr) {
      throw std::runtime_error("the store is closed");
    }
    return store_;
  }

  void Close() {
    StorePointer closing = std::move(store_);
    const nb::gil_scoped_release others_go_on;
    closing.reset();
  }

 private:
  template <typename Operation>
  void Do(Operation operation) const {
    const StorePointer store = Opened();
    rocksdb::Status status;
    {
      const nb::gil_scoped_release others_go_on;
      status = operation(*store);
    }
    ThrowUnlessOk(status);
  }

  StorePointer store_;
};

// A function of Python's that decides: it is given a mission as JSON and returns (level, policy) pairs.
class BoundController : public FlsmController {
 public:
  explicit BoundController(nb::callable decide) : decide_(std::move(decide)) {}

  // What a function that must not raise has raised all the same changes nothing.
  std::vector<FlsmPolicyChange> Decide(const FlsmMission& mission) override {
    const std::string told = ToJson(mission).dump();
    const nb::gil_scoped_acquire with_python;
    std::vector<FlsmPolicyChange> changes;
    try {
      for (const auto& [level, policy] :
           nb::cast<std::vector<std::pair<int, int>>>(decide_(nb::str(told.c_str())))) {
        changes.push_back({level, policy});
      }
    } catch (nb::python_error& raised) {
      raised.discard_as_unraisable("rocktune: a controller's decision");
    } catch (const nb::cast_error&) {
      changes.clear();
    }
    return changes;
  }

 private:
  nb::callable decide_;
};

// Steers a store until it is stopped or gone.
class BoundPilot {
 public:
  BoundPilot(const BoundStore& store, nb::callable decide, uint64_t operations)
      : store_(store.Opened()),
        controller_(std::move(decide)),
        pilot_(std::make_unique<FlsmPilot>(store_.get(), &controller_, operations)) {}
  ~BoundPilot() { Stop(); }
  BoundPilot(const BoundPilot&) = delete;
  BoundPilot& operator=(const BoundPilot&) = delete;

  // Returns when no decision is being made any more. May be repeated.
  void Stop() {
    const nb::gil_scoped_release for_the_decision;
    pilot_.reset();
    store_.reset();
  }

 private:
  StorePointer store_;
  BoundController controller_;
  std::unique_ptr<FlsmPilot> pilot_;
};

// A tree without data.
class BoundSimulator {
 public:
  BoundSimulator(const std::string& layout_json, uint64_t buffer_bytes, uint64_t file_bytes, bool moves)
      : simulator_(Empty(layout_json, buffer_bytes, file_bytes), buffer_bytes, moves) {}

  void Write(uint64_t bytes) {
    const nb::gil_scoped_release others_go_on;
    simulator_.Write(bytes);
  }
  void SetPolicy(int level, int policy, const std::string& transition) {
    const FlsmTransition how = TransitionNamed(transition);
    ThrowUnlessOk(CheckPolicyChange(simulator_.shape(), level, policy, how));
    simulator_.SetPolicy(level, policy, how);
  }
  std::string Shape() const { return ToJson(simulator_.shape()).dump(); }
  uint64_t user_bytes() const { return simulator_.user_bytes(); }
  uint64_t read_bytes() const { return simulator_.read_bytes(); }
  uint64_t written_bytes() const { return simulator_.written_bytes(); }
  std::vector<uint64_t> level_bytes() const { return simulator_.level_bytes(); }

 private:
  static FlsmShape Empty(const std::string& layout_json, uint64_t buffer_bytes, uint64_t file_bytes) {
    const FlsmOptions layout = LayoutFromJson(layout_json);
    ThrowUnlessOk(CheckLayout(layout));
    return EmptyShape(layout, buffer_bytes, file_bytes);
  }

  FlsmSimulator simulator_;
};

// Of each level of a tree that is full.
std::vector<double> FalsePositiveRates(const std::string& layout_json, int levels) {
  const FlsmOptions layout = LayoutFromJson(layout_json);
  ThrowUnlessOk(CheckLayout(layout));
  std::vector<double> rates = BitsPerKey(layout.filters, layout.size_ratio, levels);
  std::transform(rates.begin(), rates.end(), rates.begin(), FalsePositiveRate);
  return rates;
}

std::string ReadShapeAsJson(const std::string& path) {
  FlsmShape shape;
  ThrowUnlessOk(ReadShape(path, &shape));
  return ToJson(shape).dump();
}

}  // namespace

void BindFlsm(nb::module_& module) {
  nb::class_<BoundSnapshot>(module, "FlsmSnapshot");
  nb::class_<BoundIterator>(module, "FlsmIterator").def("next", &BoundIterator::Next, nb::arg("most"));
  nb::class_<BoundStore>(module, "FlsmStore")
      .def(nb::init<const std::string&, const std::string&, const std::string&>(), nb::arg("path"),
           nb::arg("layout_json"), nb::arg("options_json"))
      .def("get", &BoundStore::Get, nb::arg("key"), nb::arg("snapshot").none())
      .def("write", &BoundStore::Write, nb::arg("entries"), nb::arg("sync"))
      .def("snapshot", &BoundStore::Snapshot)
      .def("iterate", &BoundStore::Iterate, nb::arg("snapshot").none(), nb::arg("start").none(),
           nb::arg("stop").none())
      .def("flush", &BoundStore::Flush)
      .def("settle", &BoundStore::Settle)
      .def("set_policy", &BoundStore::SetPolicy, nb::arg("level"), nb::arg("policy"), nb::arg("transition"))
      .def("shape", &BoundStore::Shape)
      .def("statistics", &BoundStore::Statistics)
      .def("close", &BoundStore::Close);
  nb::class_<BoundPilot>(module, "FlsmPilot")
      .def(nb::init<const BoundStore&, nb::callable, uint64_t>(), nb::arg("store"), nb::arg("decide"),
           nb::arg("operations"))
      .def("stop", &BoundPilot::Stop);
  nb::class_<BoundSimulator>(module, "FlsmSimulator")
      .def(nb::init<const std::string&, uint64_t, uint64_t, bool>(), nb::arg("layout_json"),
           nb::arg("buffer_bytes"), nb::arg("file_bytes"), nb::arg("moves"))
      .def("write", &BoundSimulator::Write, nb::arg("count"))
      .def("set_policy", &BoundSimulator::SetPolicy, nb::arg("level"), nb::arg("policy"),
           nb::arg("transition"))
      .def("shape", &BoundSimulator::Shape)
      .def_prop_ro("user_bytes", &BoundSimulator::user_bytes)
      .def_prop_ro("read_bytes", &BoundSimulator::read_bytes)
      .def_prop_ro("written_bytes", &BoundSimulator::written_bytes)
      .def_prop_ro("level_bytes", &BoundSimulator::level_bytes);
  module.attr("flsm_moves_tables") = MovesTables();
  module.def("flsm_false_positive_rates", &FalsePositiveRates, nb::arg("layout_json"), nb::arg("levels"));
  module.def("flsm_shape", &ReadShapeAsJson, nb::arg("path"));
}

}  // namespace rocktune
