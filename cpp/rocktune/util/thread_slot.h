#pragma once

#include <cstddef>
#include <limits>

namespace rocktune {

namespace internal {

inline constexpr std::size_t kNoThreadSlot = std::numeric_limits<std::size_t>::max();
// Initialised at compile time and without a destructor, so that reading it is one instruction.
inline constinit thread_local std::size_t thread_slot = kNoThreadSlot;
std::size_t TakeThreadSlot();

}  // namespace internal

// A number that no other living thread has, the smallest that is free when the thread first asks. Lets
// threads write to places of their own, without the cost of an atomic addition, and others read there. The
// next thread with the same number sees all that the last one wrote.
inline std::size_t ThreadSlot() {
  const std::size_t slot = internal::thread_slot;
  return slot != internal::kNoThreadSlot ? slot : internal::TakeThreadSlot();
}

}  // namespace rocktune
