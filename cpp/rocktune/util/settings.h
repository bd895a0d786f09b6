#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rocktune {

// Settings as text, by name. Booleans are "true" and "false".
using SettingsMap = std::map<std::string, std::string>;

// A parser of the settings of the governor or the FLSM store. Bind each name to a variable, then call Read
// once. A variable keeps its value if its setting is absent.
//
// Ownership: bound variables must outlive the parser. Not thread-safe.
// Failure: throws std::invalid_argument, with one line that names the setting and the section, for an unknown
// name and for a value that cannot be parsed.
class Settings {
 public:
  // `section` is the name of the settings in messages, such as "governor".
  explicit Settings(std::string section) : section_(std::move(section)) {}

  // Parses a value and stores it. Throws std::invalid_argument, by Refuse, if it cannot be parsed.
  using Setter = std::function<void(const std::string& text)>;
  // Binds `name` to a function of the caller's.
  void Bind(const std::string& name, Setter setter) { setters_[name] = std::move(setter); }
  // Binds `name` to a whole number of at least 0. K, M, G or T after the digits multiply by a power of 1024.
  void BindInteger(const std::string& name, uint64_t* to);
  void BindInteger(const std::string& name, int* to);
  // Binds `name` to a real number.
  void BindReal(const std::string& name, double* to);
  // Binds `name` to a boolean.
  void BindBoolean(const std::string& name, bool* to);
  // Binds `name` to a variable whose possible values have the given names.
  template <typename Value>
  void BindEnum(const std::string& name, std::vector<std::pair<std::string, Value>> values, Value* to) {
    Bind(name, [this, name, values = std::move(values), to](const std::string& text) {
      std::string names;
      for (const auto& [known, value] : values) {
        if (known == text) {
          *to = value;
          return;
        }
        names += (names.empty() ? "" : ", ") + known;
      }
      Refuse(name, "unknown value '" + text + "'; use one of " + names);
    });
  }

  // Sets the variables of all settings in `map`. If it throws, the variables of settings before the wrong
  // one, in the map's order, are already set.
  void Read(const SettingsMap& map) const;
  // Throws std::invalid_argument: "option 'name' (section): problem".
  [[noreturn]] void Refuse(const std::string& name, const std::string& problem) const;

 private:
  uint64_t ParseInteger(const std::string& name, const std::string& text) const;

  const std::string section_;
  std::map<std::string, Setter> setters_;
};

// Returns the shortest decimal text that parses as exactly `number`.
std::string NumberText(double number);

}  // namespace rocktune
