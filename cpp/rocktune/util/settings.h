#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rocktune {

// Settings by name, as text; "true" and "false" are booleans.
using SettingsMap = std::map<std::string, std::string>;

// Reads the settings of one of rocktune's own parts from text. Each name is bound to a variable, whose value
// stays if the text does not name it. Not thread-safe. Throws std::invalid_argument, one line that names the
// setting and the section, for an unknown name and for a value that cannot be parsed.
class Settings {
 public:
  explicit Settings(std::string section) : section_(std::move(section)) {}

  using Set = std::function<void(const std::string& text)>;
  void Bind(const std::string& name, Set set) { setters_[name] = std::move(set); }
  // A whole number, with K, M, G or T behind it for powers of 1024.
  void Whole(const std::string& name, uint64_t* to);
  void Whole(const std::string& name, int* to);
  void Number(const std::string& name, double* to);
  void Truth(const std::string& name, bool* to);
  template <typename Value>
  void OneOf(const std::string& name, std::vector<std::pair<std::string, Value>> values, Value* to) {
    Bind(name, [this, name, values = std::move(values), to](const std::string& text) {
      std::string names;
      for (const auto& [known, value] : values) {
        if (known == text) {
          *to = value;
          return;
        }
        names += (names.empty() ? "" : ", ") + known;
      }
      Refuse(name, "'" + text + "' is none of " + names);
    });
  }

  // Sets the bound variables that `map` names. Those before the first error are set.
  void Read(const SettingsMap& map) const;
  [[noreturn]] void Refuse(const std::string& name, const std::string& problem) const;

 private:
  uint64_t WholeNumber(const std::string& name, const std::string& text) const;

  const std::string section_;
  std::map<std::string, Set> setters_;
};

// Returns the shortest text that parses as the same number.
std::string NumberText(double number);

}  // namespace rocktune
