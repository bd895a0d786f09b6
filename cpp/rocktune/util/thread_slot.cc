#include "rocktune/util/thread_slot.h"

#include <functional>
#include <mutex>
#include <queue>
#include <vector>

namespace rocktune {
namespace {

class FreeSlots {
 public:
  std::size_t Take() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (returned_.empty()) {
      return next_++;
    }
    const std::size_t slot = returned_.top();
    returned_.pop();
    return slot;
  }

  void Return(std::size_t slot) {
    std::lock_guard<std::mutex> lock(mutex_);
    returned_.push(slot);
  }

 private:
  std::mutex mutex_;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> returned_;
  std::size_t next_ = 0;
};

// Never destroyed, because threads may end after the main one has begun to.
FreeSlots& TheFreeSlots() {
  static FreeSlots& slots = *new FreeSlots;
  return slots;
}

struct Lease {
  Lease() : slot(TheFreeSlots().Take()) {}
  ~Lease() { TheFreeSlots().Return(slot); }
  const std::size_t slot;
};

}  // namespace

std::size_t internal::TakeThreadSlot() {
  static thread_local const Lease lease;
  thread_slot = lease.slot;
  return lease.slot;
}

}  // namespace rocktune
