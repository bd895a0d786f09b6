#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace rocktune {

// For tests that kill a store's process: the store lives in a process of its own, which is the test program
// again with one disabled test that writes for ever.

// What the store's process is to do.
struct CrashCase {
  std::string directory;  // of the store; what was acknowledged is noted beside it
  std::string what;       // for the test itself
  bool synced = false;    // every write is synced, and power fails
};

// Returns how often a crash test kills its process: a few times, or as often as ROCKTUNE_KILLS says, which
// CMakeLists.txt sets for the slow tier.
inline int Kills() {
  const char* kills = std::getenv("ROCKTUNE_KILLS");
  return kills == nullptr ? 4 : std::stoi(kills);
}

// Scattered, so that tables overlap and compactions have something to do.
inline std::string ScatteredKey(uint64_t number) {
  return std::to_string((number * 0x9E3779B97F4A7C15) >> 20) + "-" + std::to_string(number);
}

// How many writes were acknowledged, in memory that another process sees and that survives this one.
class Acknowledged {
 public:
  explicit Acknowledged(const CrashCase& of) {
    const std::string path = Path(of);
    if (!std::filesystem::exists(path)) {
      std::ofstream(path) << std::string(sizeof(uint64_t), '\0');
    }
    const int descriptor = open(path.c_str(), O_RDWR);
    count_ = static_cast<std::atomic<uint64_t>*>(
        mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    close(descriptor);
  }
  ~Acknowledged() { munmap(count_, sizeof(uint64_t)); }
  Acknowledged(const Acknowledged&) = delete;
  Acknowledged& operator=(const Acknowledged&) = delete;

  std::atomic<uint64_t>& operator*() { return *count_; }

  static std::string Path(const CrashCase& of) { return of.directory + ".acknowledged"; }

 private:
  std::atomic<uint64_t>* count_;
};

// Starts the disabled test that `filter` names, waits until so many writes are acknowledged, and kills it.
// Returns what is wrong if it ended by itself or took more than two minutes; empty otherwise.
inline std::string RunAndKill(const CrashCase& of, const std::string& filter, uint64_t when) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("ROCKTUNE_CRASH_DIRECTORY", of.directory.c_str(), 1);
    setenv("ROCKTUNE_CRASH_WHAT", of.what.c_str(), 1);
    setenv("ROCKTUNE_CRASH_SYNCED", of.synced ? "1" : "0", 1);
    execl("/proc/self/exe", "tests", "--gtest_also_run_disabled_tests", ("--gtest_filter=" + filter).c_str(),
          nullptr);
    _exit(127);
  }
  Acknowledged acknowledged(of);
  const auto begin = std::chrono::steady_clock::now();
  while (*acknowledged < when && std::chrono::steady_clock::now() - begin < std::chrono::minutes(2)) {
    if (waitpid(child, nullptr, WNOHANG) != 0) {
      return "the store's process ended by itself";
    }
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return *acknowledged < when ? "the store's process took too long" : "";
}

// In the store's process: what it is to do. False if it was not started by RunAndKill.
inline bool ReadCrashCase(CrashCase* of) {
  const char* directory = std::getenv("ROCKTUNE_CRASH_DIRECTORY");
  const char* what = std::getenv("ROCKTUNE_CRASH_WHAT");
  const char* synced = std::getenv("ROCKTUNE_CRASH_SYNCED");
  if (directory == nullptr || what == nullptr || synced == nullptr) {
    return false;
  }
  *of = {directory, what, std::string(synced) == "1"};
  return true;
}

}  // namespace rocktune
