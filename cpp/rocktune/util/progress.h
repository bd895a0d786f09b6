#pragma once

#include <chrono>
#include <functional>

namespace rocktune {

// A function that is called about twice a second with the progress of a long call: the phase, the amount that
// is done and the total amount. The phases are "load" (keys), "settle" (bytes to compact, estimated),
// "advance" (seconds), "import" (bytes of a trace) and those of MeasureDevice (seconds). It is called on the
// thread of the long call.
using Progress = std::function<void(const char* phase, double done, double total)>;

inline constexpr std::chrono::milliseconds kProgressInterval{500};

}  // namespace rocktune
