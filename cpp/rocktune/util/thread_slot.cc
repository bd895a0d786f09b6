#include "rocktune/util/thread_slot.h"

#include <functional>
#include <mutex>
#include <queue>
#include <vector>

namespace rocktune {
namespace {

// The numbers that no living thread has. Thread-safe: the lock also orders an ended thread's writes before
// those of the next thread with its number.
class FreeSlots {
 public:
  std::size_t Acquire() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (returned_.empty()) {
      return next_++;
    }
    const std::size_t slot = returned_.top();
    returned_.pop();
    return slot;
  }

  void Release(std::size_t slot) {
    std::lock_guard<std::mutex> lock(mutex_);
    returned_.push(slot);
  }

 private:
  std::mutex mutex_;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> returned_;
  std::size_t next_ = 0;
};

// Never destroyed: other threads may end, and release their slot, while the main thread runs destructors.
FreeSlots& TheFreeSlots() {
  static FreeSlots& slots = *new FreeSlots;
  return slots;
}

// Holds a slot from its construction to its destruction, which for a thread_local is the thread's end.
struct Lease {
  Lease() : slot(TheFreeSlots().Acquire()) {}
  ~Lease() { TheFreeSlots().Release(slot); }
  const std::size_t slot;
};

}  // namespace

std::size_t internal::AcquireThreadSlot() {
  static thread_local const Lease lease;
  thread_slot = lease.slot;
  return lease.slot;
}

}  // namespace rocktune
