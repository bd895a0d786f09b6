#include "worker/command_reader.h"

#include <unistd.h>

#include <thread>
#include <utility>

namespace rocktune {

CommandReader::CommandReader(std::istream* input) {
  std::thread([this, input] { Read(input); }).detach();
}

void CommandReader::Read(std::istream* input) {
  std::string line;
  while (std::getline(*input, line)) {
    std::lock_guard<std::mutex> lock(mutex_);
    lines_.push_back(line);
    arrived_.notify_one();
  }
  // Without destructors: other threads may be inside the store.
  _exit(0);
}

std::string CommandReader::Next() {
  std::unique_lock<std::mutex> lock(mutex_);
  arrived_.wait(lock, [this] { return !lines_.empty(); });
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

}  // namespace rocktune
