#include "worker/resource_watch.h"

#include <chrono>
#include <utility>

namespace rocktune {
namespace {

constexpr std::chrono::milliseconds kInterval{50};

bool Exceeds(uint64_t limit, const std::function<uint64_t()>& used) { return limit != 0 && used() > limit; }

}  // namespace

ResourceWatch::ResourceWatch(Limits limits, std::function<void(const RunError&)> on_overrun)
    : limits_(std::move(limits)), on_overrun_(std::move(on_overrun)), thread_([this] { Watch(); }) {}

ResourceWatch::~ResourceWatch() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  stop_requested_.notify_all();
  thread_.join();
}

void ResourceWatch::Watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop_requested_.wait_for(lock, kInterval, [this] { return stopping_; })) {
    if (Exceeds(limits_.memory_bytes, limits_.resident_bytes)) {
      on_overrun_(RunError(RunFailure::kOutOfMemory, "the run uses more memory than its limit of " +
                                                         std::to_string(limits_.memory_bytes) +
                                                         " bytes; use smaller write buffers or caches, "
                                                         "or raise the limit"));
      return;
    }
    if (Exceeds(limits_.disk_bytes, limits_.stored_bytes)) {
      on_overrun_(RunError(RunFailure::kOutOfDisk, "the run stores more than its limit of " +
                                                       std::to_string(limits_.disk_bytes) +
                                                       " bytes; store fewer keys or raise the limit"));
      return;
    }
  }
}

}  // namespace rocktune
