#include "worker/device_command.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "worker/session.h"

namespace rocktune {
namespace {

class DeviceCommandTest : public testing::Test {
 protected:
  DeviceCommandTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rocktune-device-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    command_ = {{"command", "measure_device"},
                {"directory", directory_.string()},
                {"bytes", uint64_t{64} << 20},
                {"seconds", 0.5}};
  }
  ~DeviceCommandTest() override { std::filesystem::remove_all(directory_); }

  // Sends the command to a new session and returns its reply.
  nlohmann::json Send() {
    nlohmann::json reply;
    Session session(
        [&reply](const nlohmann::json& line) {
          EXPECT_TRUE(reply.is_null()) << "after the reply came " << line;
          if (line.at("event") != "progress") {
            reply = line;
          }
        },
        [](const RunError& /*error*/) {});
    session.Handle(command_.dump());
    return reply;
  }
  // Returns true if the reply says that the directory for temporary files is on no disk that can be measured.
  static bool NoDisk(const nlohmann::json& reply) {
    const std::string message = reply.value("message", "");
    return message.find("in memory") != std::string::npos || message.find("direct I/O") != std::string::npos;
  }

  std::filesystem::path directory_;
  nlohmann::json command_;
};

TEST_F(DeviceCommandTest, MeasuresOrSaysWhyNot) {
  const nlohmann::json reply = Send();
  if (!NoDisk(reply)) {
    ASSERT_EQ(reply.at("event"), "device_measured") << reply;
    EXPECT_GT(reply.at("device").at("bandwidth_bytes_s"), 0);
    EXPECT_GT(reply.at("device").at("iops"), 0);
    EXPECT_LE(reply.at("written_bytes"), command_.at("bytes"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(DeviceCommandTest, RefusesWrongFields) {
  command_["bytes"] = 1000;
  nlohmann::json reply = Send();
  EXPECT_EQ(reply.at("status"), "invalid");
  EXPECT_TRUE(NoDisk(reply) || reply.at("message").get<std::string>().find("64 MiB") != std::string::npos)
      << reply;
  command_["bytes"] = -1;
  reply = Send();
  EXPECT_EQ(reply.at("status"), "invalid");
  EXPECT_NE(reply.at("message").get<std::string>().find("bytes must be a whole number"), std::string::npos)
      << reply;
}

}  // namespace
}  // namespace rocktune
