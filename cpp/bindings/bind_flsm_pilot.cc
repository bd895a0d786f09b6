// The pilot of an FLSM store in Python.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "bound_flsm_store.h"
#include "rocktune/flsm/flsm_json.h"
#include "rocktune/flsm/flsm_pilot.h"

namespace rocktune {
namespace {

// A controller that is a Python function: it gets a mission as JSON and returns (level, policy) pairs. Decide
// is called on the pilot's thread and acquires the GIL.
class BoundController : public FlsmController {
 public:
  explicit BoundController(nb::callable decide) : decide_(std::move(decide)) {}

  // Returns the changes; none if the function raises or returns something else. Python reports an exception
  // as unraisable, because there is no Python caller.
  std::vector<FlsmPolicyChange> Decide(const FlsmMission& mission) override {
    const std::string mission_json = ToJson(mission).dump();
    const nb::gil_scoped_acquire gil;
    std::vector<FlsmPolicyChange> changes;
    try {
      for (const auto& [level, policy] :
           nb::cast<std::vector<std::pair<int, int>>>(decide_(nb::str(mission_json.c_str())))) {
        changes.push_back({level, policy});
      }
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("rocktune: the controller's decision");
    } catch (const nb::cast_error&) {
      changes.clear();
    }
    return changes;
  }

 private:
  nb::callable decide_;
};

// A pilot for Python: changes a store's policies by a controller until Stop is called or the pilot is
// destroyed. It shares ownership of the store.
class BoundPilot {
 public:
  // `operations` is the length of a mission.
  BoundPilot(const BoundStore& store, nb::callable decide, uint64_t operations)
      : store_(store.Opened()),
        controller_(std::move(decide)),
        pilot_(std::make_unique<FlsmPilot>(store_.get(), &controller_, operations)) {}
  ~BoundPilot() { Stop(); }
  BoundPilot(const BoundPilot&) = delete;
  BoundPilot& operator=(const BoundPilot&) = delete;

  // Ends the pilot, and waits for a decision in progress. May be repeated.
  void Stop() {
    // The decision in progress needs the GIL to end.
    const nb::gil_scoped_release released_gil;
    pilot_.reset();
    store_.reset();
  }

 private:
  StorePointer store_;
  BoundController controller_;
  std::unique_ptr<FlsmPilot> pilot_;
};

}  // namespace

void BindFlsmPilot(nb::module_& module) {
  nb::class_<BoundPilot>(module, "FlsmPilot")
      .def(nb::init<const BoundStore&, nb::callable, uint64_t>(), nb::arg("store"), nb::arg("decide"),
           nb::arg("operations"))
      .def("stop", &BoundPilot::Stop);
}

}  // namespace rocktune
