#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

namespace rocktune {

// Returns the CPU seconds that all threads of this process have used.
double ProcessCpuSeconds();

// Returns the CPU seconds that the calling thread has used.
double CallingThreadCpuSeconds();

// The CPU time of a thread, for other threads to read at any time.
class ThreadCpuClock {
 public:
  // Begin and end the measured thread; both are called on it.
  void Begin();
  void End();
  // Returns the CPU seconds that the thread has used; 0 before Begin. Thread-safe.
  double Seconds() const;

 private:
  std::atomic<bool> begun_{false};
  clockid_t clock_ = 0;             // valid once `begun_` is true and until the thread is gone
  std::atomic<double> total_s_{0};  // set by End
};

// Returns the bytes of physical memory that this process uses; 0 if /proc cannot be read.
uint64_t ResidentBytes();

}  // namespace rocktune
