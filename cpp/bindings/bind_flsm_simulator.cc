// The simulator of an FLSM-tree, and the figures of its filters, in Python.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bind_flsm_util.h"
#include "bindings.h"
#include "rocktune/flsm/flsm_filters.h"
#include "rocktune/flsm/flsm_json.h"
#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/flsm/flsm_simulator.h"
#include "rocktune/util/rocksdb_compat.h"

namespace nb = nanobind;

namespace rocktune {
namespace {

// A simulated FLSM-tree for Python; see FlsmSimulator.
class BoundSimulator {
 public:
  // `moves` is true if tables that overlap no other one are moved and not rewritten (see HasTrivialMove).
  BoundSimulator(const std::string& layout_json, uint64_t buffer_bytes, uint64_t file_bytes, bool moves)
      : simulator_(Empty(layout_json, buffer_bytes, file_bytes), buffer_bytes, moves) {}

  // Writes `bytes` of user data.
  void Write(uint64_t bytes) {
    const nb::gil_scoped_release released_gil;
    simulator_.Write(bytes);
  }
  // Writes `bytes` of user data `times` times. Returns after each time, by level: held bytes, sorted runs
  // (level 1 with level 0's files), and all bytes that compactions into the level have read and written.
  std::vector<std::vector<std::vector<uint64_t>>> Course(uint64_t bytes, int times) {
    const nb::gil_scoped_release released_gil;
    std::vector<std::vector<std::vector<uint64_t>>> course(3);
    for (int done = 0; done < times; ++done) {
      simulator_.Write(bytes);
      const FlsmShape& shape = simulator_.shape();
      std::vector<uint64_t>& held = course[0].emplace_back();
      std::vector<uint64_t>& runs = course[1].emplace_back();
      for (const FlsmLevel& level : shape.levels) {
        held.push_back(level.bytes());
        runs.push_back(level.runs.size());
      }
      held.front() += shape.level0_bytes;
      runs.front() += shape.level0_files;
      course[2].push_back(simulator_.level_bytes());
    }
    return course;
  }
  // Sets the policy of a level by a transition of the given name. Throws as an FlsmStore refuses.
  void SetPolicy(int level, int policy, const std::string& transition) {
    const FlsmTransition by = TransitionNamed(transition);
    ThrowUnlessOk(CheckPolicyChange(simulator_.shape(), level, policy, by));
    simulator_.SetPolicy(level, policy, by);
  }
  // Returns a tree in the same state, which then goes its own way.
  BoundSimulator Copy() const { return *this; }
  // Returns the shape as JSON.
  std::string Shape() const { return ToJson(simulator_.shape()).dump(); }
  // The next functions return the bytes that the user has written, that compactions have read, and that
  // flushes and compactions have written.
  uint64_t user_bytes() const { return simulator_.user_bytes(); }
  uint64_t read_bytes() const { return simulator_.read_bytes(); }
  uint64_t written_bytes() const { return simulator_.written_bytes(); }
  // Returns the bytes that compactions into each level have read and written, from the first level.
  std::vector<uint64_t> level_bytes() const { return simulator_.level_bytes(); }

 private:
  static FlsmShape Empty(const std::string& layout_json, uint64_t buffer_bytes, uint64_t file_bytes) {
    const FlsmOptions layout = LayoutFromJson(layout_json);
    ThrowUnlessOk(CheckLayout(layout));
    return EmptyShape(layout, buffer_bytes, file_bytes);
  }

  FlsmSimulator simulator_;
};

// Returns the false-positive rate of the Bloom filters in each level of a full tree with `levels` levels.
std::vector<double> FalsePositiveRates(const std::string& layout_json, int levels) {
  const FlsmOptions layout = LayoutFromJson(layout_json);
  ThrowUnlessOk(CheckLayout(layout));
  std::vector<double> rates = BitsPerKey(layout.filters, layout.size_ratio, levels);
  std::transform(rates.begin(), rates.end(), rates.begin(), FalsePositiveRate);
  return rates;
}

}  // namespace

void BindFlsmSimulator(nb::module_& module) {
  nb::class_<BoundSimulator>(module, "FlsmSimulator")
      .def(nb::init<const std::string&, uint64_t, uint64_t, bool>(), nb::arg("layout_json"),
           nb::arg("buffer_bytes"), nb::arg("file_bytes"), nb::arg("moves"))
      .def("write", &BoundSimulator::Write, nb::arg("count"))
      .def("course", &BoundSimulator::Course, nb::arg("count"), nb::arg("times"))
      .def("set_policy", &BoundSimulator::SetPolicy, nb::arg("level"), nb::arg("policy"),
           nb::arg("transition"))
      .def("copy", &BoundSimulator::Copy)
      .def("shape", &BoundSimulator::Shape)
      .def_prop_ro("user_bytes", &BoundSimulator::user_bytes)
      .def_prop_ro("read_bytes", &BoundSimulator::read_bytes)
      .def_prop_ro("written_bytes", &BoundSimulator::written_bytes)
      .def_prop_ro("level_bytes", &BoundSimulator::level_bytes);
  module.attr("flsm_moves_tables") = HasTrivialMove();
  module.def("flsm_false_positive_rates", &FalsePositiveRates, nb::arg("layout_json"), nb::arg("levels"));
}

}  // namespace rocktune
