#pragma once

#include <mutex>
#include <nlohmann/json_fwd.hpp>

namespace rocktune {

// A writer of the protocol's lines to a file descriptor, which the caller owns. Thread-safe: lines of several
// threads do not mix.
class ReplyWriter {
 public:
  explicit ReplyWriter(int descriptor) : descriptor_(descriptor) {}

  // Writes a line. Ends the process with status 1 if the descriptor cannot be written, because a run must not
  // outlive its driver.
  void Write(const nlohmann::json& line);

  // Writes the last line and ends the process with `exit_status`. No other thread can write a line
  // afterwards.
  [[noreturn]] void WriteLast(const nlohmann::json& line, int exit_status);

 private:
  // REQUIRES: mutex_ is held.
  void WriteLocked(const nlohmann::json& line) const;

  const int descriptor_;
  std::mutex mutex_;
};

}  // namespace rocktune
