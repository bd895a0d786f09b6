#pragma once

#include <nanobind/nanobind.h>

namespace rocktune {

// Each function adds the classes and functions of one subject to the Python module rocktune._native. In
// Python, std::invalid_argument is a ValueError and std::runtime_error a RuntimeError.
void BindCostController(nanobind::module_& module);
void BindFlsmStore(nanobind::module_& module);
void BindFlsmPilot(nanobind::module_& module);
void BindFlsmSimulator(nanobind::module_& module);
void BindUtil(nanobind::module_& module);
void BindWorkload(nanobind::module_& module);

}  // namespace rocktune
