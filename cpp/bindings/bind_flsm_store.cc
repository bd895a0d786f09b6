// The FLSM store in Python.

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "bindings.h"
#include "bound_flsm_store.h"

namespace rocktune {
namespace {

// Returns the shape of a column family of the store at `path`, as JSON. The store may be open elsewhere.
std::string ReadShapeAsJson(const std::string& path, const std::string& family) {
  FlsmShape shape;
  ThrowUnlessOk(ReadShape(path, family, &shape));
  return ToJson(shape).dump();
}

}  // namespace

void BindFlsmStore(nb::module_& module) {
  nb::class_<BoundSnapshot>(module, "FlsmSnapshot");
  nb::class_<BoundIterator>(module, "FlsmIterator").def("next", &BoundIterator::Next, nb::arg("most"));
  nb::class_<BoundStore>(module, "FlsmStore")
      .def(nb::init<const std::string&, const std::vector<FamilyText>&>(), nb::arg("path"),
           nb::arg("families"))
      .def("families", &BoundStore::Families)
      .def("create_family", &BoundStore::CreateFamily, nb::arg("family"))
      .def("drop_family", &BoundStore::DropFamily, nb::arg("family"))
      .def("get", &BoundStore::Get, nb::arg("family"), nb::arg("key"), nb::arg("snapshot").none())
      .def("write", &BoundStore::Write, nb::arg("entries"), nb::arg("sync"))
      .def("snapshot", &BoundStore::Snapshot)
      .def("iterate", &BoundStore::Iterate, nb::arg("family"), nb::arg("snapshot").none(),
           nb::arg("start").none(), nb::arg("stop").none())
      .def("flush", &BoundStore::Flush, nb::arg("family"))
      .def("settle", &BoundStore::Settle)
      .def("set_policy", &BoundStore::SetPolicy, nb::arg("family"), nb::arg("level"), nb::arg("policy"),
           nb::arg("transition"))
      .def("shape", &BoundStore::Shape, nb::arg("family"))
      .def("statistics", &BoundStore::Statistics, nb::arg("family"))
      .def("close", &BoundStore::Close);
  module.def("flsm_shape", &ReadShapeAsJson, nb::arg("path"), nb::arg("family"));
}

}  // namespace rocktune
