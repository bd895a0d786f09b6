#pragma once

#include <nlohmann/json_fwd.hpp>

#include "rocktune/device_spec.h"

namespace rocktune {

// Returns the device spec in `json`, an object whose fields are named as those of DeviceSpec. Fields that are
// absent keep their defaults. Throws std::invalid_argument, with one line that names the field, for a field
// that is unknown or has the wrong type.
DeviceSpec DeviceSpecFromJson(const nlohmann::json& json);

}  // namespace rocktune
