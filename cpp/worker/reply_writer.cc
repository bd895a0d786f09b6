#include "worker/reply_writer.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace rocktune {

void ReplyWriter::Write(const nlohmann::json& line) {
  std::lock_guard<std::mutex> lock(mutex_);
  WriteLocked(line);
}

void ReplyWriter::WriteLast(const nlohmann::json& line, int exit_status) {
  std::lock_guard<std::mutex> lock(mutex_);
  WriteLocked(line);
  // Without destructors: other threads may be inside the store.
  _exit(exit_status);
}

void ReplyWriter::WriteLocked(const nlohmann::json& line) const {
  // Messages may quote bytes that are not UTF-8.
  const std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t result = write(descriptor_, text.data() + written, text.size() - written);
    if (result < 0 && errno != EINTR) {
      _exit(1);
    }
    written += result < 0 ? 0 : static_cast<std::size_t>(result);
  }
}

}  // namespace rocktune
