#pragma once

#include <cstdint>
#include <vector>

#include "rocktune/runner/store.h"
#include "rocktune/util/progress.h"
#include "rocktune/workload/operation_stream.h"
#include "rocktune/workload/trace_file.h"
#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// Loads the preloads of a workload's families into a store, then flushes it and waits until no compaction is
// due or running. Keys are written in ascending order by one thread, or in random order by up to four. Equal
// seeds give equal entries. Does nothing if no preload has keys. Calls `progress` on the calling thread, with
// the phases "load" and "settle". Throws RunError if the store fails; the store then holds a part of the
// keys.
// With a trace, a family whose preload has fewer keys than the family gets the keys in `present`, and a
// family with elements in `sizes` values of these sizes, in bytes by the keys' index.
// REQUIRES: `values`, `present` and `sizes` have an element for each family; the device is unthrottled and
// the run's clock runs, so that the store's I/O does not wait.
void Preload(const WorkloadSpec& spec, uint64_t seed, const ValueSources& values,
             const std::vector<KeyBits>& present, const std::vector<std::vector<uint32_t>>& sizes,
             Store* store, const Progress& progress);

}  // namespace rocktune
