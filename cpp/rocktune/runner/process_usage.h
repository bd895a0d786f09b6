#pragma once

#include <cstdint>

namespace rocktune {

// CPU seconds that all threads of this process have used.
double ProcessCpuSeconds();

// Bytes of physical memory that this process holds.
uint64_t ResidentBytes();

}  // namespace rocktune
