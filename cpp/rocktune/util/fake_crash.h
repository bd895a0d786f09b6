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

// Helpers for crash tests, which kill the process of a store. The store runs in a child process: the test
// program again, running one disabled test that writes until it is killed.

// The task of the child process. StartChild passes it on in environment variables.
struct CrashCase {
  std::string directory;  // of the store; `directory`.acknowledged counts the acknowledged writes
  std::string variant;    // the test's own parameter; its meaning is the test's
  bool synced = false;    // true if the child syncs every write and the test cuts the power
};

// Returns the number of kills of a crash test: the environment variable ROCKTUNE_KILLS, or else 4.
// CMakeLists.txt sets the variable for the slow tier.
inline int KillCount() {
  const char* kills = std::getenv("ROCKTUNE_KILLS");
  return kills == nullptr ? 4 : std::stoi(kills);
}

// Returns the key of a number. The keys of consecutive numbers are scattered over the key space, so that
// tables overlap and compactions have to merge them.
inline std::string ScatteredKey(uint64_t number) {
  return std::to_string((number * 0x9E3779B97F4A7C15) >> 20) + "-" + std::to_string(number);
}

// A counter of acknowledged writes in memory that is shared between processes and outlives them: a mapped
// file. Each object maps the file of its CrashCase, which the first one creates with a count of 0.
class Acknowledged {
 public:
  explicit Acknowledged(const CrashCase& crash_case) {
    const std::string path = Path(crash_case);
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

  // Returns the count, which the child increments after each acknowledged write.
  std::atomic<uint64_t>& operator*() { return *count_; }

  // Returns the path of the mapped file. A test deletes it before its first run and after its last.
  static std::string Path(const CrashCase& crash_case) { return crash_case.directory + ".acknowledged"; }

 private:
  std::atomic<uint64_t>* count_;
};

// Starts a child process with the disabled test `filter` and returns its id.
inline pid_t StartChild(const CrashCase& crash_case, const std::string& filter) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("ROCKTUNE_CRASH_DIRECTORY", crash_case.directory.c_str(), 1);
    setenv("ROCKTUNE_CRASH_VARIANT", crash_case.variant.c_str(), 1);
    setenv("ROCKTUNE_CRASH_SYNCED", crash_case.synced ? "1" : "0", 1);
    execl("/proc/self/exe", "tests", "--gtest_also_run_disabled_tests", ("--gtest_filter=" + filter).c_str(),
          nullptr);
    _exit(127);  // exec failed; the status is that of a shell that finds no command
  }
  return child;
}

// Runs a child process until it ends by itself, and returns its status as waitpid does.
inline int RunChild(const CrashCase& crash_case, const std::string& filter) {
  int status = 0;
  waitpid(StartChild(crash_case, filter), &status, 0);
  return status;
}

// Starts a child process with the disabled test `filter`, waits until `min_acknowledged` writes are
// acknowledged in all and `later` has passed, and kills the child. Returns an empty string, or a message if
// the child ended by itself or took more than two minutes.
inline std::string RunAndKill(const CrashCase& crash_case, const std::string& filter,
                              uint64_t min_acknowledged, std::chrono::microseconds later = {}) {
  const pid_t child = StartChild(crash_case, filter);
  Acknowledged acknowledged(crash_case);
  const auto begin = std::chrono::steady_clock::now();
  while (*acknowledged < min_acknowledged &&
         std::chrono::steady_clock::now() - begin < std::chrono::minutes(2)) {
    if (waitpid(child, nullptr, WNOHANG) != 0) {
      return "the store's process ended by itself";
    }
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  std::this_thread::sleep_for(later);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return *acknowledged < min_acknowledged ? "the store's process took too long" : "";
}

// Reads the task of this child process into `*crash_case`. Returns false if this process was not started by
// StartChild; a disabled test then returns at once.
inline bool ReadCrashCase(CrashCase* crash_case) {
  const char* directory = std::getenv("ROCKTUNE_CRASH_DIRECTORY");
  const char* variant = std::getenv("ROCKTUNE_CRASH_VARIANT");
  const char* synced = std::getenv("ROCKTUNE_CRASH_SYNCED");
  if (directory == nullptr || variant == nullptr || synced == nullptr) {
    return false;
  }
  *crash_case = {directory, variant, std::string(synced) == "1"};
  return true;
}

}  // namespace rocktune
