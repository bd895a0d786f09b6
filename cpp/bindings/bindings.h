#pragma once

#include <nanobind/nanobind.h>

namespace rocktune {

// One function per folder of cpp/rocktune; each adds that folder's names to the module.
void BindFlsm(nanobind::module_& module);
void BindUtil(nanobind::module_& module);
void BindWorkload(nanobind::module_& module);

}  // namespace rocktune
