#pragma once

#include <cstdint>
#include <vector>

#include "rocktune/workload/trace_file.h"
#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// Both functions throw std::invalid_argument as TraceFile does. REQUIRES: a spec without a trace, or one that
// ResolveTrace returned.

// Returns, by family, the keys that a preload of a part of a trace's keys has; no bits for other families.
std::vector<KeyBits> PresentKeys(const WorkloadSpec& spec);
// Returns, by family, the sizes in bytes of the values that a trace's database has, by the keys' rank; empty
// for other families.
std::vector<std::vector<uint32_t>> StoredSizes(const WorkloadSpec& spec);

}  // namespace rocktune
