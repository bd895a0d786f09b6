#include "rocktune/runner/process_usage.h"

#include <pthread.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

namespace rocktune {

namespace {

// Returns what a clock of CPU time shows; a negative number if its thread is gone.
double SecondsOf(clockid_t clock) {
  timespec used{};
  return clock_gettime(clock, &used) == 0
             ? static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9
             : -1;
}

}  // namespace

double ProcessCpuSeconds() { return SecondsOf(CLOCK_PROCESS_CPUTIME_ID); }

double CallingThreadCpuSeconds() { return SecondsOf(CLOCK_THREAD_CPUTIME_ID); }

void ThreadCpuClock::Begin() {
  begun_.store(pthread_getcpuclockid(pthread_self(), &clock_) == 0, std::memory_order_release);
}

void ThreadCpuClock::End() { total_s_.store(CallingThreadCpuSeconds()); }

double ThreadCpuClock::Seconds() const {
  const double seconds = begun_.load(std::memory_order_acquire) ? SecondsOf(clock_) : 0;
  return seconds < 0 ? total_s_.load() : seconds;
}

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size_pages = 0;
  uint64_t resident_pages = 0;
  statm >> size_pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace rocktune
