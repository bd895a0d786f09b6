#include "rocktune/device/device_spec_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace rocktune {
namespace {

// Returns the error message for the spec `text`; empty if it is accepted.
std::string Refusal(const std::string& text) {
  try {
    DeviceSpecFromJson(nlohmann::json::parse(text));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(DeviceSpecTest, ReadsEveryField) {
  const DeviceSpec spec = DeviceSpecFromJson(nlohmann::json::parse(R"({
      "name": "mine", "bandwidth_bytes_s": 1, "iops": 2, "read_latency_us": 3, "write_latency_us": 4,
      "sync_latency_us": 5, "capacity_bytes": 6})"));
  EXPECT_EQ(spec.name, "mine");
  EXPECT_EQ(spec.bandwidth_bytes_s, 1u);
  EXPECT_EQ(spec.iops, 2u);
  EXPECT_EQ(spec.read_latency_us, 3u);
  EXPECT_EQ(spec.write_latency_us, 4u);
  EXPECT_EQ(spec.sync_latency_us, 5u);
  EXPECT_EQ(spec.capacity_bytes, 6u);
}

TEST(DeviceSpecTest, AbsentLimitsMeanUnlimited) {
  const DeviceSpec spec = DeviceSpecFromJson(nlohmann::json::object());
  EXPECT_EQ(spec.name, "none");
  EXPECT_FALSE(spec.throttled());
  EXPECT_EQ(spec.capacity_bytes, 0u);
}

TEST(DeviceSpecTest, EachLimitButCapacityThrottles) {
  for (const char* field :
       {"bandwidth_bytes_s", "iops", "read_latency_us", "write_latency_us", "sync_latency_us"}) {
    EXPECT_TRUE(DeviceSpecFromJson({{field, 1u}}).throttled()) << field;
  }
  EXPECT_FALSE(DeviceSpecFromJson({{"capacity_bytes", 1u}}).throttled());
}

TEST(DeviceSpecTest, RefusesUnknownFieldsAndWrongTypes) {
  EXPECT_EQ(Refusal(R"({"bandwidth": 1})"), "device.bandwidth: unknown field; remove it or correct its name");
  EXPECT_EQ(Refusal(R"({"iops": -1})"), "device.iops: expected a whole number of at least 0, not -1");
  EXPECT_EQ(Refusal(R"({"iops": 1.5})"), "device.iops: expected a whole number of at least 0, not 1.5");
  EXPECT_EQ(Refusal(R"({"iops": true})"), "device.iops: expected a whole number of at least 0, not true");
  EXPECT_EQ(Refusal(R"({"name": 7})"), "device.name: expected a string, not 7");
  EXPECT_EQ(Refusal("[]"), "device: expected an object, not []");
}

}  // namespace
}  // namespace rocktune
