#include <nanobind/stl/string.h>

#include "bindings.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {

void BindUtil(nanobind::module_& module) {
  module.def("rocksdb_version", &RocksDbVersion);
  module.def("assertions", &RocksDbAssertionsOn);
}

}  // namespace rocktune
