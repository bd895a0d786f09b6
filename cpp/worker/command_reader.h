#pragma once

#include <condition_variable>
#include <deque>
#include <istream>
#include <mutex>
#include <string>

namespace rocktune {

// Reads lines ahead on a thread of its own and ends the process at the end of the input, also while a command
// is being carried out: the driver has gone.
//
// The thread is never joined; the reader must live as long as the process.
class CommandReader {
 public:
  explicit CommandReader(std::istream* input);

  // Waits for the next line.
  std::string Next();

 private:
  void Read(std::istream* input);

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::string> lines_;
};

}  // namespace rocktune
