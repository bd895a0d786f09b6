#pragma once

#include <rocksdb/status.h>

#include <stdexcept>
#include <string>

namespace rocktune {

// How a run fails, as the worker's protocol names it.
enum class RunFailure { kInvalid, kCrashed, kOutOfMemory, kOutOfDisk };

inline const char* RunFailureName(RunFailure failure) {
  switch (failure) {
    case RunFailure::kInvalid:
      return "invalid";
    case RunFailure::kOutOfMemory:
      return "out_of_memory";
    case RunFailure::kOutOfDisk:
      return "out_of_disk";
    case RunFailure::kCrashed:
      break;
  }
  return "crashed";
}

// A run, or a command that would begin one, has failed. what() is one line for the user.
class RunError : public std::runtime_error {
 public:
  RunError(RunFailure failure, const std::string& message) : std::runtime_error(message), failure_(failure) {}

  RunFailure failure() const { return failure_; }

 private:
  RunFailure failure_;
};

// The error that a store's failed operation amounts to. `what` says what was being done.
inline RunError StoreError(const std::string& what, const rocksdb::Status& status) {
  return RunError(status.IsNoSpace() ? RunFailure::kOutOfDisk : RunFailure::kCrashed,
                  what + ": " + status.ToString());
}

}  // namespace rocktune
