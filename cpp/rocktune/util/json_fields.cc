#include "rocktune/util/json_fields.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace rocktune {

namespace {

[[noreturn]] void Refuse(const std::string& path, const std::string& expected, const nlohmann::json& found) {
  // Cut off, so that the message stays one readable line whatever the field holds.
  throw std::invalid_argument(path + ": expected " + expected + ", not " + found.dump().substr(0, 60));
}

}  // namespace

JsonFields::JsonFields(const nlohmann::json& object, std::string path)
    : object_(object), path_(std::move(path)) {
  if (!object_.is_object()) {
    Refuse(path_.empty() ? "document" : path_, "an object", object_);
  }
}

void JsonFields::Read(const std::string& name, uint64_t* value) {
  if (const nlohmann::json* found = Find(name)) {
    if (!found->is_number_integer() || (!found->is_number_unsigned() && found->get<int64_t>() < 0)) {
      Refuse(PathOf(name), "a whole number of at least 0", *found);
    }
    *value = found->get<uint64_t>();
  }
}

void JsonFields::Read(const std::string& name, double* value) {
  if (const nlohmann::json* found = Find(name)) {
    if (!found->is_number() || !std::isfinite(found->get<double>())) {
      Refuse(PathOf(name), "a number", *found);
    }
    *value = found->get<double>();
  }
}

void JsonFields::Read(const std::string& name, bool* value) {
  if (const nlohmann::json* found = Find(name)) {
    if (!found->is_boolean()) {
      Refuse(PathOf(name), "true or false", *found);
    }
    *value = found->get<bool>();
  }
}

void JsonFields::Read(const std::string& name, std::string* value) {
  if (const nlohmann::json* found = Find(name)) {
    if (!found->is_string()) {
      Refuse(PathOf(name), "a string", *found);
    }
    *value = found->get<std::string>();
  }
}

const nlohmann::json* JsonFields::Find(const std::string& name) {
  known_.insert(name);
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

std::string JsonFields::PathOf(const std::string& name) const {
  return path_.empty() ? name : path_ + "." + name;
}

void JsonFields::RefuseUnknown() const {
  for (const auto& [name, value] : object_.items()) {
    if (!known_.contains(name)) {
      throw std::invalid_argument(PathOf(name) + ": unknown field; remove it or correct its name");
    }
  }
}

}  // namespace rocktune
