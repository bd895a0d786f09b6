#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "rocktune/runner/run_error.h"

namespace rocktune {

// Looks every 50 ms whether the process keeps to its limits. 0 stands for no limit.
//
// Has a thread of its own; the functions are called on it.
class ResourceWatch {
 public:
  struct Limits {
    uint64_t memory_bytes = 0;
    uint64_t disk_bytes = 0;
    std::function<uint64_t()> resident_bytes;
    std::function<uint64_t()> stored_bytes;
  };

  // `on_overrun` is called once, with the reason in one line.
  ResourceWatch(Limits limits, std::function<void(const RunError&)> on_overrun);
  ~ResourceWatch();
  ResourceWatch(const ResourceWatch&) = delete;
  ResourceWatch& operator=(const ResourceWatch&) = delete;

 private:
  void Watch();

  const Limits limits_;
  const std::function<void(const RunError&)> on_overrun_;
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace rocktune
