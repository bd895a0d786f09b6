#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "rocktune/util/progress.h"

namespace rocktune {

// The progress of one phase in bytes. Calls a Progress at most once in kProgressInterval. Not thread-safe.
class ByteProgress {
 public:
  // `phase` and `progress` must outlive the object. `total_bytes` may be an estimate.
  ByteProgress(const char* phase, uint64_t total_bytes, const Progress& progress)
      : phase_(phase), total_(total_bytes), progress_(progress) {
    Report();
  }

  // Counts bytes that are done.
  void Add(uint64_t bytes) { Reach(done_ + bytes); }
  // Sets the bytes that are done.
  void Reach(uint64_t done_bytes) {
    done_ = done_bytes;
    if (std::chrono::steady_clock::now() >= next_) {
      Report();
    }
  }

 private:
  void Report() {
    next_ = std::chrono::steady_clock::now() + kProgressInterval;
    progress_(phase_, static_cast<double>(std::min(done_, total_)), static_cast<double>(total_));
  }

  const char* const phase_;
  const uint64_t total_;
  const Progress& progress_;
  uint64_t done_ = 0;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace rocktune
