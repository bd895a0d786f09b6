#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "rocktune/migrate/open_store.h"
#include "rocktune/util/progress.h"

namespace rocktune {

// Writes all tables and blob files of a family again, with the options of the open store. The data ends in
// `level`, or in the deepest level that has data if it is unset. Reports the bytes written as `phase`, of
// `total_bytes`, twice a second. Throws RunError: out_of_disk or crashed.
// REQUIRES: the store was opened with WorkingOptions.
void CompactWhole(const OpenStore& store, std::size_t family, std::optional<int> level, const char* phase,
                  uint64_t total_bytes, const Progress& progress);

}  // namespace rocktune
