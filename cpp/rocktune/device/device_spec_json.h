#pragma once

#include <nlohmann/json_fwd.hpp>

#include "rocktune/device_spec.h"

namespace rocktune {

// Parses a device's spec: an object with DeviceSpec's fields. Throws nlohmann::json::exception or
// std::invalid_argument (one line) for a malformed spec; an unknown field is malformed too.
DeviceSpec DeviceSpecFromJson(const nlohmann::json& json);

}  // namespace rocktune
