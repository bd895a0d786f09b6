#include "rocktune/util/option_value.h"

#include <rocksdb/convenience.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

namespace rocktune {
namespace {

constexpr const char* kObjectName = "id";  // the key that RocksDB's object registry writes for an object

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Returns log2 of one of RocksDB's units; 0 for any other character.
int UnitShift(char unit) {
  switch (unit) {
    case 'k':
    case 'K':
      return 10;
    case 'm':
    case 'M':
      return 20;
    case 'g':
    case 'G':
      return 30;
    case 't':
    case 'T':
      return 40;
    default:
      return 0;
  }
}

// Sign and magnitude, because options are of both int64_t and uint64_t.
struct Integer {
  bool negative = false;
  uint64_t magnitude = 0;
  bool operator==(const Integer&) const = default;
};

// Returns the decimal integer in `text`, with an optional unit; nullopt for other text and beyond 64 bits.
std::optional<Integer> ParseInteger(std::string_view text) {
  Integer number;
  if (!text.empty() && text.front() == '-') {
    number.negative = true;
    text.remove_prefix(1);
  }
  const int shift = text.empty() ? 0 : UnitShift(text.back());
  if (shift != 0) {
    text.remove_suffix(1);
  }
  uint64_t units = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), units);
  number.magnitude = units << shift;
  if (error != std::errc() || end != text.data() + text.size() || number.magnitude >> shift != units) {
    return std::nullopt;
  }
  return number;
}

std::optional<double> ParseReal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

bool SameNumber(std::string_view given, std::string_view read) {
  if (const auto integer = ParseInteger(given), read_integer = ParseInteger(read); integer && read_integer) {
    return *integer == *read_integer;
  }
  const auto real = ParseReal(given);
  const auto read_real = ParseReal(read);
  // RocksDB writes real numbers with six decimals: half a unit of the last one, and some rounding.
  return real && read_real && std::abs(*real - *read_real) <= 5.1e-7;
}

std::optional<bool> ParseBoolean(std::string_view text) {
  if (text == "true" || text == "1") {
    return true;
  }
  if (text == "false" || text == "0") {
    return false;
  }
  return std::nullopt;
}

bool SameScalar(std::string_view given, std::string_view read) {
  if (given == read) {
    return true;
  }
  if (read == "true" || read == "false") {
    return ParseBoolean(given) == ParseBoolean(read);
  }
  return SameNumber(given, read);
}

std::vector<std::string_view> SplitList(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t colon; (colon = text.find(':')) != std::string_view::npos; text.remove_prefix(colon + 1)) {
    parts.push_back(text.substr(0, colon));
  }
  parts.push_back(text);
  return parts;
}

bool SameList(std::string_view given, std::string_view read) {
  const std::vector<std::string_view> given_parts = SplitList(given);
  const std::vector<std::string_view> read_parts = SplitList(read);
  if (given_parts.size() > read_parts.size()) {
    return false;
  }
  for (std::size_t i = 0; i < given_parts.size(); ++i) {
    if (!SameScalar(given_parts[i], read_parts[i])) {
      return false;
    }
  }
  return true;
}

// Returns the nested options in `{a=1;b=2;}`, with or without the braces; nullopt if `text` has none.
std::optional<std::unordered_map<std::string, std::string>> ParseNested(std::string_view text) {
  if (text.size() >= 2 && text.front() == '{' && text.back() == '}') {
    text = text.substr(1, text.size() - 2);
  }
  std::unordered_map<std::string, std::string> options;
  if (text.find('=') == std::string_view::npos || !rocksdb::StringToMap(std::string(text), &options).ok()) {
    return std::nullopt;
  }
  return options;
}

}  // namespace

std::optional<uint64_t> ParseOptionBytes(const std::string& text) {
  const std::optional<Integer> number = ParseInteger(Trimmed(text));
  return number && !number->negative ? std::optional(number->magnitude) : std::nullopt;
}

bool SameOptionValue(const std::string& given_text, const std::string& read_text) {
  const std::string_view given = Trimmed(given_text);
  const std::string_view read = Trimmed(read_text);
  if (SameScalar(given, read)) {
    return true;
  }
  const auto read_options = ParseNested(read);
  if (const auto given_options = ParseNested(given); given_options && read_options) {
    for (const auto& [name, value] : *given_options) {
      const auto found = read_options->find(name);
      if (found == read_options->end() || !SameOptionValue(value, found->second)) {
        return false;
      }
    }
    return true;
  }
  if (read_options && read_options->contains(kObjectName)) {
    // RocksDB accepts an object's name alone. Some versions serialize its other settings with the name:
    // "ribbonfilter:9" becomes "{id=ribbonfilter:9:0;bloom_before_level=0;}".
    return SameOptionValue(given_text, read_options->at(kObjectName));
  }
  return given.find(':') != std::string_view::npos && SameList(given, read);
}

}  // namespace rocktune
