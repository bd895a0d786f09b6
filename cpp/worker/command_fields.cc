#include "worker/command_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "rocktune/runner/run_error.h"

namespace rocktune {

void CheckFields(const nlohmann::json& command, std::initializer_list<const char*> fields) {
  for (const char* field : fields) {
    if (!command.contains(field)) {
      throw RunError(RunFailure::kInvalid, std::string("the command lacks the field '") + field + "'");
    }
  }
  for (const auto& item : command.items()) {
    const std::string& name = item.key();
    if (name != "command" && std::find(fields.begin(), fields.end(), name) == fields.end()) {
      throw RunError(RunFailure::kInvalid, "the command has an unknown field '" + name + "'");
    }
  }
}

uint64_t WholeNumber(const nlohmann::json& command, const char* field) {
  const nlohmann::json& value = command.at(field);
  if (!value.is_number_unsigned()) {
    throw RunError(RunFailure::kInvalid, std::string(field) + " must be a whole number, not " + value.dump());
  }
  return value.get<uint64_t>();
}

}  // namespace rocktune
