#include "rocktune/device/device_spec.h"

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace rocktune {
namespace {

using Field = std::pair<const char*, uint64_t DeviceSpec::*>;
constexpr std::array<Field, 6> kLimits = {{{"bandwidth_bytes_s", &DeviceSpec::bandwidth_bytes_s},
                                           {"iops", &DeviceSpec::iops},
                                           {"read_latency_us", &DeviceSpec::read_latency_us},
                                           {"write_latency_us", &DeviceSpec::write_latency_us},
                                           {"sync_latency_us", &DeviceSpec::sync_latency_us},
                                           {"capacity_bytes", &DeviceSpec::capacity_bytes}}};

void SetField(DeviceSpec* spec, const std::string& name, const nlohmann::json& value) {
  if (name == "name") {
    if (!value.is_string()) {
      throw std::invalid_argument("device: name must be a string, not " + value.dump());
    }
    value.get_to(spec->name);
    return;
  }
  for (const auto& [limit, member] : kLimits) {
    if (name == limit) {
      if (!value.is_number_unsigned()) {
        throw std::invalid_argument("device: " + name + " must be a whole number from 0, not " +
                                    value.dump());
      }
      value.get_to(spec->*member);
      return;
    }
  }
  std::string known = "name";
  for (const auto& [limit, member] : kLimits) {
    known += std::string(", ") + limit;
  }
  throw std::invalid_argument("device: unknown field \"" + name + "\"; there are " + known);
}

}  // namespace

DeviceSpec DeviceSpecFromJson(const nlohmann::json& json) {
  if (!json.is_object()) {
    throw std::invalid_argument("device: must be an object, not " + json.dump());
  }
  DeviceSpec spec;
  for (const auto& [name, value] : json.items()) {
    SetField(&spec, name, value);
  }
  return spec;
}

}  // namespace rocktune
