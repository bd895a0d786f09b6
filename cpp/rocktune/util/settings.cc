#include "rocktune/util/settings.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <stdexcept>

#include "rocktune/util/option_value.h"

namespace rocktune {

void Settings::Refuse(const std::string& name, const std::string& problem) const {
  throw std::invalid_argument("option '" + name + "' (" + section_ + "): " + problem);
}

uint64_t Settings::ParseInteger(const std::string& name, const std::string& text) const {
  const std::optional<uint64_t> number = ParseOptionBytes(text);
  if (!number) {
    Refuse(name, "'" + text + "' is not a whole number of at least 0; use digits, and K, M, G or T as unit");
  }
  return *number;
}

void Settings::BindInteger(const std::string& name, uint64_t* to) {
  Bind(name, [this, name, to](const std::string& text) { *to = ParseInteger(name, text); });
}

void Settings::BindInteger(const std::string& name, int* to) {
  Bind(name, [this, name, to](const std::string& text) {
    const uint64_t number = ParseInteger(name, text);
    if (number > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
      Refuse(name,
             "'" + text + "' is too large; use at most " + std::to_string(std::numeric_limits<int>::max()));
    }
    *to = static_cast<int>(number);
  });
}

void Settings::BindReal(const std::string& name, double* to) {
  Bind(name, [this, name, to](const std::string& text) {
    const char* end = text.data() + text.size();
    if (const auto read = std::from_chars(text.data(), end, *to); read.ec != std::errc() || read.ptr != end) {
      Refuse(name, "'" + text + "' is not a number; use a decimal such as 0.5");
    }
  });
}

void Settings::BindBoolean(const std::string& name, bool* to) {
  Bind(name, [this, name, to](const std::string& text) {
    if (text != "true" && text != "false") {
      Refuse(name, "'" + text + "' is neither true nor false; use one of these");
    }
    *to = text == "true";
  });
}

void Settings::Read(const SettingsMap& map) const {
  for (const auto& [name, text] : map) {
    const auto setter = setters_.find(name);
    if (setter == setters_.end()) {
      std::string names;
      for (const auto& [known, unused] : setters_) {
        names += (names.empty() ? "" : ", ") + known;
      }
      Refuse(name, "unknown setting; use one of " + names);
    }
    setter->second(text);
  }
}

std::string NumberText(double number) {
  std::array<char, 32> text{};  // the shortest form of a double has at most 24 characters
  const auto written = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), written.ptr};
}

}  // namespace rocktune
