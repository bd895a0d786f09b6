#pragma once

#include <cstdint>

namespace rocktune {

// Returns the CPU seconds that all threads of this process have used.
double ProcessCpuSeconds();

// Returns the bytes of physical memory that this process uses; 0 if /proc cannot be read.
uint64_t ResidentBytes();

}  // namespace rocktune
