#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "rocktune/workload/workload_spec.h"

// The parts of a workload's JSON. Each function reads the object `json`, which messages call `path`, and
// throws std::invalid_argument as WorkloadSpecFromJson does.
namespace rocktune {

inline constexpr double kMixTolerance = 1e-6;  // of a sum of shares, which people write in decimal
inline constexpr uint64_t kMaxCount = uint64_t{1}
                                      << 62;  // Permutation's limit; the top bit marks absent keys

// Throws std::invalid_argument, "`path`: must be `requirement`", unless the condition holds.
void Require(bool condition, const std::string& path, const std::string& requirement);

KeyChooserSpec ReadKeyChooser(const nlohmann::json& json, const std::string& path);
SizeSpec ReadSize(const nlohmann::json& json, const std::string& path);
ArrivalSpec ReadArrival(const nlohmann::json& json, const std::string& path);
OperationMix ReadMix(const nlohmann::json& json, const std::string& path);

}  // namespace rocktune
