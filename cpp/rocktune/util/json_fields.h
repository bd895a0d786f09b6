#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

namespace rocktune {

// A strict reader of the fields of a JSON object. It converts no value to another type, and RefuseUnknown
// refuses fields that were not read. A field that is absent leaves its variable unchanged.
//
// Ownership: the JSON object must outlive the reader. Not thread-safe.
// Failure: throws std::invalid_argument with one line that names the field.
class JsonFields {
 public:
  // `path` is the object's own name, which error messages put before a field's name; "" for the outermost
  // object. Throws if `object` is not a JSON object.
  JsonFields(const nlohmann::json& object, std::string path);

  // Reads the field `name` into `*value`. Throws if the field has another type, is a negative number where
  // `value` is unsigned, or is not finite.
  void Read(const std::string& name, uint64_t* value);
  void Read(const std::string& name, double* value);
  void Read(const std::string& name, bool* value);
  void Read(const std::string& name, std::string* value);
  // Returns the field `name`, owned by the object, or nullptr if it is absent. The field counts as read.
  const nlohmann::json* Find(const std::string& name);
  // Returns the field's name with the object's path, as in "device.iops".
  std::string PathOf(const std::string& name) const;
  // Throws if the object has a field that neither Read nor Find was called for. Call it last.
  void RefuseUnknown() const;

 private:
  const nlohmann::json& object_;
  std::string path_;
  std::set<std::string> known_;
};

}  // namespace rocktune
