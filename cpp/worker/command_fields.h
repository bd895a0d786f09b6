#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>

namespace rocktune {

// Throws RunError (invalid) unless the command has exactly these fields, and `command`.
void CheckFields(const nlohmann::json& command, std::initializer_list<const char*> fields);

// Returns a field of the command. Throws RunError (invalid) if it is not a whole number of at least 0.
uint64_t WholeNumber(const nlohmann::json& command, const char* field);

}  // namespace rocktune
