#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "rocktune/runner/run_error.h"
#include "rocktune/util/progress.h"
#include "worker/run.h"

namespace rocktune {

// The worker's side of the protocol in docs/design/worker-protocol.md: executes commands and sends replies
// and progress. It holds at most one run.
//
// Not thread-safe: all functions must be called on one thread. `send` is called on that thread, `on_overrun`
// on another one.
class Session {
 public:
  // What the process must do after a command. It must end without destructors: closing a store takes time.
  enum class Next {
    kGoOn,    // execute the next command
    kEnd,     // end with status 0, after `close`
    kFailed,  // end with status 1, after an error
  };

  // `send` is called with each line to write. `on_overrun` is called if an open run exceeds a limit.
  Session(std::function<void(const nlohmann::json&)> send, std::function<void(const RunError&)> on_overrun);
  ~Session();

  // Returns the first line of the protocol, with the version and abilities of the worker.
  static nlohmann::json Hello();
  // Returns the reply for a failure.
  static nlohmann::json ErrorLine(const RunError& error);

  // Executes the command in `line` and sends its progress and one reply, which is an error line if the
  // command is malformed, refused or fails. Throws no exception of its own.
  Next Handle(const std::string& line);

 private:
  // Executes a command and returns its reply, by the functions below, one per command. Throws RunError or the
  // exception of a parser if it fails.
  nlohmann::json Reply(const nlohmann::json& command, Next* next);
  // Executes a command that needs no run. Returns nullopt if `name` is not one of them.
  std::optional<nlohmann::json> ReplyWithoutRun(const std::string& name, const nlohmann::json& command);
  nlohmann::json CheckOptions(const nlohmann::json& command) const;
  nlohmann::json ExamineOptions(const nlohmann::json& command) const;
  nlohmann::json TryWatchedFile(const nlohmann::json& command) const;
  nlohmann::json MeasureDevice(const nlohmann::json& command) const;
  nlohmann::json ImportTrace(const nlohmann::json& command) const;
  nlohmann::json SampleTrace(const nlohmann::json& command) const;
  nlohmann::json Open(const nlohmann::json& command);
  nlohmann::json Load();
  nlohmann::json Advance(const nlohmann::json& command);
  nlohmann::json SetPolicy(const nlohmann::json& command);
  nlohmann::json StartTrace(const nlohmann::json& command);
  nlohmann::json EndTrace();
  nlohmann::json Park();
  nlohmann::json Close(const nlohmann::json& command, Next* next);
  // Returns the open run. Throws RunError (invalid) if no run is open.
  Run& OpenRun() const;
  // Returns a Progress that sends progress lines.
  Progress ProgressSender() const;

  const std::function<void(const nlohmann::json&)> send_;
  const std::function<void(const RunError&)> on_overrun_;
  std::unique_ptr<Run> run_;
  bool advanced_ = false;  // true once the load has begun
};

}  // namespace rocktune
