#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rocktune/runner/run_error.h"
#include "worker/session.h"

namespace rocktune {

// A fixture with a session that keeps its replies. Tests change open_ before they send it.
class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rocktune-session-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    StartSession();
    open_ = {{"command", "open"},
             {"directory", (directory_ / "db").string()},
             {"options", {{"cf", {{"write_buffer_size", "64K"}}}, {"table", {{"block_cache", "1M"}}}}},
             {"workload",
              {{"name", "test"},
               {"keys", 1000},
               {"threads", 2},
               {"preload", {{"keys", 500}, {"random_order", true}}},
               {"sessions", {{{"mix", {{"get", 0.5}, {"put", 0.5}}}}}}}},
             {"device", {{"name", "fast"}, {"bandwidth_bytes_s", 50'000'000}}},
             {"seed", 1},
             {"series_interval_s", 0.01},
             {"memory_limit_bytes", 0},
             {"disk_limit_bytes", 0}};
  }
  ~SessionTest() override {
    session_.reset();
    std::filesystem::remove_all(directory_);
  }

  void StartSession() {
    session_ = std::make_unique<Session>([this](const nlohmann::json& line) { Record(line); },
                                         [this](const RunError& error) { overrun_ = error.failure(); });
  }

  // Keeps a reply. Progress is left out: its number depends on the machine's speed.
  void Record(const nlohmann::json& line) {
    if (line.at("event") != "progress") {
      replies_.push_back(line);
    }
  }

  nlohmann::json Send(const nlohmann::json& command) { return SendLine(command.dump()); }
  // Sends a line and returns its reply.
  nlohmann::json SendLine(const std::string& line) {
    replies_.clear();
    next_ = session_->Handle(line);
    EXPECT_EQ(replies_.size(), 1u);
    return replies_.back();
  }

  void ExpectError(const nlohmann::json& reply, const std::string& status, const std::string& part) {
    EXPECT_EQ(reply.at("event"), "error") << reply;
    EXPECT_EQ(reply.value("status", ""), status) << reply;
    EXPECT_NE(reply.value("message", "").find(part), std::string::npos) << reply;
    EXPECT_EQ(next_, Session::Next::kFailed);
  }

  std::filesystem::path directory_;
  std::vector<nlohmann::json> replies_;
  std::atomic<RunFailure> overrun_{RunFailure::kInvalid};
  Session::Next next_ = Session::Next::kGoOn;
  nlohmann::json open_;
  std::unique_ptr<Session> session_;
};

}  // namespace rocktune
