#pragma once

#include <cstddef>
#include <limits>

namespace rocktune {

namespace internal {

// The value of thread_slot before the thread's first call of ThreadSlot.
inline constexpr std::size_t kNoThreadSlot = std::numeric_limits<std::size_t>::max();
// The calling thread's number, or kNoThreadSlot. Initialized at compile time and without a destructor, so
// that reading it takes one instruction.
inline constinit thread_local std::size_t thread_slot = kNoThreadSlot;
// Gives the calling thread a number until it ends.
std::size_t AcquireThreadSlot();

}  // namespace internal

// Returns the calling thread's number, which no other living thread has: the smallest one that is free at the
// thread's first call. Each thread can then write to an array element of its own without an atomic addition.
// A thread that reuses the number of an ended thread sees everything that thread has written.
inline std::size_t ThreadSlot() {
  const std::size_t slot = internal::thread_slot;
  return slot != internal::kNoThreadSlot ? slot : internal::AcquireThreadSlot();
}

}  // namespace rocktune
