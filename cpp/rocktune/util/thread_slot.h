#pragma once

#include <cstddef>

namespace rocktune {

// A number that no other living thread has, the smallest that is free when the thread first asks. Lets
// threads write to places of their own, without the cost of an atomic addition, and others read there. The
// next thread with the same number sees all that the last one wrote.
std::size_t ThreadSlot();

}  // namespace rocktune
