#pragma once

#include <cstdint>

#include "rocktune/runner/progress.h"
#include "rocktune/runner/store.h"
#include "rocktune/workload/operation_stream.h"
#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// Writes the keys that the workload wants to be there, in order with one thread or in random order with
// several, then flushes and waits until compaction has nothing left to do. The same seed gives the same
// entries. Returns the bytes of all values. Throws RunError when the store fails.
//
// REQUIRES: nothing holds the store's I/O up (device unthrottled, clock running).
void Preload(const WorkloadSpec& spec, uint64_t seed, const ValueSource& values, Store* store,
             const Progress& progress);

}  // namespace rocktune
