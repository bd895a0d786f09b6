#pragma once

#include <rocksdb/status.h>

#include <stdexcept>
#include <string>

namespace rocktune {

// The ways in which a run fails.
enum class RunFailure {
  kInvalid,      // refused: options, workload, device or command are wrong
  kCrashed,      // the store failed
  kOutOfMemory,  // the process exceeded its memory limit, or the system's memory is exhausted
  kOutOfDisk,    // the store exceeded its disk limit, or the device is full
};

// Returns the failure's name in the worker's protocol.
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

// The failure of a run, or of a command before one. what() is a message for the user.
class RunError : public std::runtime_error {
 public:
  RunError(RunFailure failure, const std::string& message) : std::runtime_error(message), failure_(failure) {}

  RunFailure failure() const { return failure_; }

 private:
  RunFailure failure_;
};

// Returns the error for a failed operation of a store: kOutOfDisk for NoSpace, kCrashed otherwise. The
// message is `action`, such as "closing the store failed", and the status.
inline RunError StoreError(const std::string& action, const rocksdb::Status& status) {
  return RunError(status.IsNoSpace() ? RunFailure::kOutOfDisk : RunFailure::kCrashed,
                  action + ": " + status.ToString());
}

}  // namespace rocktune
