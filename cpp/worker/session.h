#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rocktune/runner/progress.h"
#include "rocktune/runner/run_error.h"
#include "worker/run.h"

namespace rocktune {

// The worker's side of docs/design/worker-protocol.md: commands in, replies and progress out.
//
// Not thread-safe, but for `send`, which is called by the run's limits on a thread of their own.
class Session {
 public:
  enum class Next {
    kGoOn,
    kEnd,     // the process is to end as it is, after `close`
    kFailed,  // likewise, after an error
  };

  // `send` takes each line. `on_overrun` is called when an open run oversteps a limit, on another thread.
  Session(std::function<void(const nlohmann::json&)> send, std::function<void(const RunError&)> on_overrun);
  ~Session();

  static nlohmann::json Hello();
  static nlohmann::json ErrorLine(const RunError& error);

  // Carries out one line and sends its reply.
  Next Handle(const std::string& line);

 private:
  nlohmann::json Reply(const nlohmann::json& command, Next* next);
  nlohmann::json CheckOptions(const nlohmann::json& command) const;
  nlohmann::json ExamineOptions(const nlohmann::json& command) const;
  nlohmann::json Open(const nlohmann::json& command);
  nlohmann::json Load();
  nlohmann::json Advance(const nlohmann::json& command);
  nlohmann::json SetPolicy(const nlohmann::json& command);
  nlohmann::json Park();
  nlohmann::json Close(const nlohmann::json& command, Next* next);
  Run& OpenRun() const;
  Progress ProgressSender() const;

  const std::function<void(const nlohmann::json&)> send_;
  const std::function<void(const RunError&)> on_overrun_;
  std::unique_ptr<Run> run_;
  bool advanced_ = false;
};

}  // namespace rocktune
