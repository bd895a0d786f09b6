#pragma once

#include <condition_variable>
#include <deque>
#include <istream>
#include <mutex>
#include <string>

namespace rocktune {

// A reader of lines that reads ahead on a thread of its own. At the end of the input it ends the process,
// even if a command is being executed, because the driver has ended.
//
// Ownership: the thread is never joined, so the reader and its input must live as long as the process.
// Thread-safe.
class CommandReader {
 public:
  // Starts to read `input`.
  explicit CommandReader(std::istream* input);

  // Waits for the next line and returns it without its newline.
  std::string Next();

 private:
  void Read(std::istream* input);

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::string> lines_;
};

}  // namespace rocktune
