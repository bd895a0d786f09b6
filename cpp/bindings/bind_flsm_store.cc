// The FLSM store in Python.

#include <nanobind/stl/string.h>

#include <string>

#include "bindings.h"
#include "bound_flsm_store.h"

namespace rocktune {
namespace {

// Returns the shape of the store at `path`, as JSON. The store may be open elsewhere.
std::string ReadShapeAsJson(const std::string& path) {
  FlsmShape shape;
  ThrowUnlessOk(ReadShape(path, &shape));
  return ToJson(shape).dump();
}

}  // namespace

void BindFlsmStore(nb::module_& module) {
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
  module.def("flsm_shape", &ReadShapeAsJson, nb::arg("path"));
}

}  // namespace rocktune
