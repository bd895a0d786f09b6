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

uint64_t Settings::WholeNumber(const std::string& name, const std::string& text) const {
  const std::optional<uint64_t> number = ParseOptionBytes(text);
  if (!number) {
    Refuse(name, "'" + text + "' is no whole number");
  }
  return *number;
}

void Settings::Whole(const std::string& name, uint64_t* to) {
  Bind(name, [this, name, to](const std::string& text) { *to = WholeNumber(name, text); });
}

void Settings::Whole(const std::string& name, int* to) {
  Bind(name, [this, name, to](const std::string& text) {
    const uint64_t number = WholeNumber(name, text);
    if (number > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
      Refuse(name, "'" + text + "' is too large");
    }
    *to = static_cast<int>(number);
  });
}

void Settings::Number(const std::string& name, double* to) {
  Bind(name, [this, name, to](const std::string& text) {
    const char* end = text.data() + text.size();
    if (const auto read = std::from_chars(text.data(), end, *to); read.ec != std::errc() || read.ptr != end) {
      Refuse(name, "'" + text + "' is no number");
    }
  });
}

void Settings::Truth(const std::string& name, bool* to) {
  Bind(name, [this, name, to](const std::string& text) {
    if (text != "true" && text != "false") {
      Refuse(name, "'" + text + "' is neither true nor false");
    }
    *to = text == "true";
  });
}

void Settings::Read(const SettingsMap& map) const {
  for (const auto& [name, text] : map) {
    const auto setter = setters_.find(name);
    if (setter == setters_.end()) {
      Refuse(name, "there is no such setting");
    }
    setter->second(text);
  }
}

std::string NumberText(double number) {
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), written.ptr};
}

}  // namespace rocktune
