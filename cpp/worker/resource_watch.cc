#include "worker/resource_watch.h"

#include <chrono>
#include <utility>

namespace rocktune {
namespace {

constexpr std::chrono::milliseconds kInterval{50};

bool Over(uint64_t limit, const std::function<uint64_t()>& used) { return limit != 0 && used() > limit; }

}  // namespace

ResourceWatch::ResourceWatch(Limits limits, std::function<void(const RunError&)> on_overrun)
    : limits_(std::move(limits)), on_overrun_(std::move(on_overrun)), thread_([this] { Watch(); }) {}

ResourceWatch::~ResourceWatch() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  ended_changed_.notify_all();
  thread_.join();
}

void ResourceWatch::Watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_changed_.wait_for(lock, kInterval, [this] { return ended_; })) {
    if (Over(limits_.memory_bytes, limits_.resident_bytes)) {
      on_overrun_(RunError(RunFailure::kOutOfMemory, "the run holds more than its limit of " +
                                                         std::to_string(limits_.memory_bytes) +
                                                         " bytes of memory"));
      return;
    }
    if (Over(limits_.disk_bytes, limits_.stored_bytes)) {
      on_overrun_(RunError(RunFailure::kOutOfDisk, "the run stores more than its limit of " +
                                                       std::to_string(limits_.disk_bytes) + " bytes"));
      return;
    }
  }
}

}  // namespace rocktune
