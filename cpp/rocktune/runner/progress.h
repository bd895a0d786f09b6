#pragma once

#include <chrono>
#include <functional>

namespace rocktune {

// Told about twice a second how far something has come: "load" in keys, "settle" in bytes still to compact,
// "advance" in seconds.
using Progress = std::function<void(const char* phase, double done, double total)>;

inline constexpr std::chrono::milliseconds kProgressInterval{500};

}  // namespace rocktune
