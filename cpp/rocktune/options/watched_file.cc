#include "rocktune/options/watched_file.h"

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>

namespace rocktune {
namespace {

constexpr std::string_view kFirstLine = "# rocktune options, format 1";
constexpr std::string_view kLastLine = "# end crc32=";
constexpr std::size_t kChecksumDigits = 8;
constexpr uint32_t kPolynomial = 0xEDB88320;  // zlib's, reflected
constexpr std::string_view kTableSection = "TableOptions/BlockBasedTable";

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1) != 0 ? kPolynomial ^ (crc >> 1) : crc >> 1;
    }
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kCrcTable = MakeCrcTable();

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string Hex(uint32_t value) {
  std::string text(kChecksumDigits, '0');
  for (std::size_t digit = kChecksumDigits; digit-- > 0; value >>= 4) {
    text[digit] = "0123456789abcdef"[value & 15];
  }
  return text;
}

// Returns what is before the last line, or nullopt if that is not "# end crc32=XXXXXXXX\n" with the checksum
// of what is before it.
std::optional<std::string_view> CheckedBody(std::string_view text, uint32_t* crc32) {
  const std::size_t length = kLastLine.size() + kChecksumDigits + 1;
  if (text.size() < length) {
    return std::nullopt;
  }
  const std::string_view body = text.substr(0, text.size() - length);
  *crc32 = Crc32(std::string(body));
  if (text.substr(body.size()) != std::string(kLastLine) + Hex(*crc32) + "\n") {
    return std::nullopt;
  }
  return body;
}

// Reads the lines between the first and the last one.
class Parser {
 public:
  explicit Parser(WatchedFile* file) : file_(file) {}

  // Returns the fault of a line, or "".
  std::string Read(std::string_view line) {
    line = Trimmed(line);
    if (line.empty() || line.front() == '#') {
      return "";
    }
    if (line.front() == '[') {
      return line.back() == ']' ? Open(line.substr(1, line.size() - 2)) : "its heading has no ']'";
    }
    const std::size_t equals = line.find('=');
    const std::string_view name = Trimmed(line.substr(0, equals));
    if (equals == std::string_view::npos || name.empty()) {
      return "it is neither a heading nor NAME=VALUE";
    }
    return Set(std::string(name), std::string(Trimmed(line.substr(equals + 1))));
  }

 private:
  std::string Open(std::string_view heading) {
    if (!headings_.insert(std::string(heading)).second) {
      return "section [" + std::string(heading) + "] comes twice";
    }
    in_database_ = heading == "Database";
    section_ = nullptr;
    if (in_database_) {
      return "";
    }
    if (heading == "DBOptions") {
      section_ = &file_->options.db;
      return "";
    }
    const std::size_t quote = heading.find(" \"");
    if (quote != std::string_view::npos && heading.size() > quote + 2 && heading.back() == '"') {
      const std::string family(heading.substr(quote + 2, heading.size() - quote - 3));
      const std::string_view title = heading.substr(0, quote);
      if (title == "CFOptions") {
        section_ = &file_->options.families[family].cf;
      } else if (title == kTableSection) {
        section_ = &file_->options.families[family].table;
      }
    }
    return section_ != nullptr ? "" : "there is no section [" + std::string(heading) + "]";
  }

  std::string Set(const std::string& name, const std::string& value) {
    if (value.empty()) {
      return name + " has no value";
    }
    if (in_database_) {
      if (name != "id" || !file_->database_id.empty()) {
        return "section [Database] has one id, and nothing else";
      }
      file_->database_id = value;
      return "";
    }
    if (section_ == nullptr) {
      return name + " is in no section";
    }
    return section_->emplace(name, value).second ? "" : name + " comes twice";
  }

  WatchedFile* const file_;
  std::set<std::string> headings_;
  OptionMaps::Map* section_ = nullptr;
  bool in_database_ = false;
};

}  // namespace

uint32_t Crc32(const std::string& text) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char each : text) {
    crc = kCrcTable[(crc ^ static_cast<unsigned char>(each)) & 0xFF] ^ (crc >> 8);
  }
  return crc ^ 0xFFFFFFFF;
}

bool IsComplete(const std::string& text) {
  uint32_t crc32 = 0;
  return CheckedBody(text, &crc32).has_value();
}

rocksdb::Status ParseWatchedFile(const std::string& text, WatchedFile* file) {
  *file = WatchedFile();
  std::optional<std::string_view> body = CheckedBody(text, &file->crc32);
  if (!body) {
    return rocksdb::Status::Incomplete("its last line is no right checksum; it is cut short or was edited");
  }
  const std::string first = std::string(kFirstLine) + "\n";
  if (!body->starts_with(first)) {
    return rocksdb::Status::InvalidArgument("line 1", "it must be '" + std::string(kFirstLine) + "'");
  }
  body->remove_prefix(first.size());
  Parser parser(file);
  for (std::size_t number = 2; !body->empty(); ++number) {
    const std::size_t end = body->find('\n');
    const std::string fault = parser.Read(body->substr(0, end));
    if (!fault.empty()) {
      return rocksdb::Status::InvalidArgument("line " + std::to_string(number), fault);
    }
    body->remove_prefix(end == std::string_view::npos ? body->size() : end + 1);
  }
  return rocksdb::Status::OK();
}

}  // namespace rocktune
