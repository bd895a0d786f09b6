#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "rocktune/runner/run_error.h"

namespace rocktune {

// A thread that checks every 50 ms whether the process exceeds its limits of memory and disk. It calls all
// functions that it is given.
class ResourceWatch {
 public:
  struct Limits {
    uint64_t memory_bytes = 0;                 // maximum of resident_bytes(); 0 means no limit
    uint64_t disk_bytes = 0;                   // maximum of stored_bytes(); 0 means no limit
    std::function<uint64_t()> resident_bytes;  // returns the bytes of memory in use
    std::function<uint64_t()> stored_bytes;    // returns the bytes of the store's files
  };

  // Starts the thread. It calls `on_overrun` at most once, at the first limit exceeded, and then ends. The
  // error is kOutOfMemory or kOutOfDisk and names the limit.
  ResourceWatch(Limits limits, std::function<void(const RunError&)> on_overrun);
  // Ends the thread, and waits for a call in progress.
  ~ResourceWatch();
  ResourceWatch(const ResourceWatch&) = delete;
  ResourceWatch& operator=(const ResourceWatch&) = delete;

 private:
  void Watch();

  const Limits limits_;
  const std::function<void(const RunError&)> on_overrun_;
  std::mutex mutex_;
  std::condition_variable stop_requested_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;     // last, because the thread uses all members above
};

}  // namespace rocktune
