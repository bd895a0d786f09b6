#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.h"
#include "rocktune/workload/operation_stream.h"

namespace nb = nanobind;

namespace rocktune {

namespace {

// Returns a NumPy array of one field of each operation. The array owns its memory.
template <typename Field>
auto Column(const std::vector<Operation>& operations, Field field) {
  using Value = decltype(field(operations.front()));
  auto values = std::make_unique<Value[]>(operations.size());
  std::transform(operations.begin(), operations.end(), values.get(), field);
  Value* data = values.release();
  nb::capsule owner(data, [](void* array) noexcept { delete[] static_cast<Value*>(array); });
  return nb::ndarray<nb::numpy, Value, nb::ndim<1>>(data, {operations.size()}, owner);
}

// Returns the first `count` operations of a thread as arrays, by field, for tests that compare them with the
// workload. Time does not advance, so a closed session never ends. Throws std::invalid_argument if the
// workload is malformed or has no such thread.
nb::dict SampleOperations(const std::string& workload_json, uint64_t seed, uint64_t thread,
                          std::size_t count) {
  WorkloadState state(WorkloadSpecFromJson(nlohmann::json::parse(workload_json)));
  if (thread >= state.spec().threads) {
    throw std::invalid_argument("thread: must be below the workload's threads, " +
                                std::to_string(state.spec().threads));
  }
  OperationStream stream(&state, seed, thread);
  std::vector<Operation> operations(count);
  std::generate(operations.begin(), operations.end(), [&] { return stream.Next(0); });
  nb::dict columns;
  columns["kind"] = Column(operations, [](const Operation& o) { return static_cast<uint8_t>(o.kind); });
  columns["family"] = Column(operations, [](const Operation& o) { return static_cast<uint64_t>(o.family); });
  columns["key"] = Column(operations, [](const Operation& o) { return o.key; });
  columns["scan_length"] = Column(operations, [](const Operation& o) { return o.scan_length; });
  columns["value_bytes"] = Column(operations, [](const Operation& o) { return o.value_bytes; });
  columns["intended_start_ns"] = Column(operations, [](const Operation& o) { return o.intended_start_ns; });
  return columns;
}

}  // namespace

void BindWorkload(nb::module_& module) {
  module.def("sample_operations", &SampleOperations, nb::arg("workload_json"), nb::arg("seed"),
             nb::arg("thread"), nb::arg("count"));
}

}  // namespace rocktune
