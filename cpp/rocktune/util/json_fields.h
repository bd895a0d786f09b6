#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

namespace rocktune {

// Reads the fields of a JSON object strictly: a number is never bent into another type, and a field that
// nobody asked for is an error. All functions throw std::invalid_argument with one line that names the field.
//
// An absent field leaves its variable as it is. The JSON must outlive the reader. Not thread-safe.
class JsonFields {
 public:
  // `path` stands before the fields' names in errors, "" for the outermost object.
  JsonFields(const nlohmann::json& object, std::string path);

  void Read(const std::string& name, uint64_t* value);
  void Read(const std::string& name, double* value);
  void Read(const std::string& name, bool* value);
  void Read(const std::string& name, std::string* value);
  // The field as it is, nullptr when absent.
  const nlohmann::json* Find(const std::string& name);
  // `name` with the path before it.
  std::string PathOf(const std::string& name) const;
  // REQUIRES: every field that may be there was asked for.
  void RefuseUnknown() const;

 private:
  const nlohmann::json& object_;
  std::string path_;
  std::set<std::string> known_;
};

}  // namespace rocktune
