#pragma once

#include <mutex>
#include <nlohmann/json_fwd.hpp>

namespace rocktune {

// Writes the protocol's lines, whole and one at a time, to a file descriptor that it does not own.
//
// Thread-safe.
class ReplyWriter {
 public:
  explicit ReplyWriter(int descriptor) : descriptor_(descriptor) {}

  // Ends the process when nobody reads any more: a run must not outlive its driver.
  void Write(const nlohmann::json& line);

  // Writes the last line and ends the process with `exit_status`; no other line can come behind it.
  [[noreturn]] void WriteLast(const nlohmann::json& line, int exit_status);

 private:
  void WriteLocked(const nlohmann::json& line) const;

  const int descriptor_;
  std::mutex mutex_;
};

}  // namespace rocktune
