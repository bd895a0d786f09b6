#include "rocktune/trace/text_trace.h"

#include <array>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <utility>

namespace rocktune {
namespace {

constexpr uint64_t kSecondUs = 1'000'000;

bool ReadNumber(std::string_view text, uint64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// Reads a whole number that may be printed with a fraction, which programs do to columns with empty cells.
bool ReadPrinted(std::string_view text, uint64_t* number) {
  const std::size_t point = std::min(text.find('.'), text.size());
  return ReadNumber(text.substr(0, point), number) &&
         text.find_first_not_of("0123456789", std::min(point + 1, text.size())) == std::string_view::npos;
}

std::vector<std::string_view> Split(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

// Takes the rest of a field behind its opening quote, with the quote that ends it. A quote in the field is
// doubled. Returns false if the quote is not closed.
bool TakeQuoted(std::string_view* rest, std::string* field) {
  for (;;) {
    const std::size_t quote = rest->find('"');
    if (quote == std::string_view::npos) {
      return false;
    }
    field->append(rest->substr(0, quote));
    rest->remove_prefix(quote + 1);
    if (rest->substr(0, 1) != "\"") {
      return true;
    }
    field->push_back('"');
    rest->remove_prefix(1);
  }
}

// The kind of an operation, and how it is replayed if that is another operation; nullptr otherwise.
struct NamedKind {
  std::string_view name;
  OperationKind kind;
  const char* note;
};

constexpr const char* kMalformed = "malformed lines left out";
constexpr const char* kUnknownOperation = "lines whose operation rocktune does not know left out";
constexpr const char* kNamedFamily = "lines whose family is no number left out";
constexpr std::string_view kReadModifyWrite = "readmodifywrite";  // YCSB's, which is two operations
constexpr const char* kMergeNote = "merges replayed as puts of their operands";
constexpr const char* kSingleDeleteNote = "single deletes replayed as deletes";
constexpr const char* kMultiGetNote = "multi-gets replayed as single gets";
constexpr const char* kBackwardsNote = "seeks backwards replayed as scans forwards";
constexpr const char* kConditionalNote = "conditional and arithmetic writes replayed as puts";

constexpr std::array<NamedKind, 23> kNamedKinds = {{
    {"get", OperationKind::kGet, nullptr},
    {"gets", OperationKind::kGet, nullptr},
    {"read", OperationKind::kGet, nullptr},
    {"multi_get", OperationKind::kGet, kMultiGetNote},
    {"put", OperationKind::kPut, nullptr},
    {"set", OperationKind::kPut, nullptr},
    {"insert", OperationKind::kPut, nullptr},
    {"update", OperationKind::kPut, nullptr},
    {"merge", OperationKind::kPut, kMergeNote},
    {"add", OperationKind::kPut, kConditionalNote},
    {"replace", OperationKind::kPut, kConditionalNote},
    {"cas", OperationKind::kPut, kConditionalNote},
    {"append", OperationKind::kPut, kConditionalNote},
    {"prepend", OperationKind::kPut, kConditionalNote},
    {"incr", OperationKind::kPut, kConditionalNote},
    {"decr", OperationKind::kPut, kConditionalNote},
    {"delete", OperationKind::kDelete, nullptr},
    {"single_delete", OperationKind::kDelete, kSingleDeleteNote},
    {"scan", OperationKind::kScan, nullptr},
    {"seek", OperationKind::kScan, nullptr},
    {"seek_for_prev", OperationKind::kScan, kBackwardsNote},
    {"delete_range", OperationKind::kDeleteRange, nullptr},
    {"range_delete", OperationKind::kDeleteRange, nullptr},
}};

// The names of trace_analyzer's numbers of operations.
constexpr std::array<std::string_view, 9> kAnalyzerKinds = {
    "get", "put", "delete", "single_delete", "range_delete", "merge", "seek", "seek_for_prev", "multi_get"};

// Returns a file's first line without the mark that other programs write before UTF-8 text.
std::string WithoutByteOrderMark(const std::string& line) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return line.compare(0, kMark.size(), kMark) == 0 ? line.substr(kMark.size()) : line;
}

// Sets `*key` to the bytes that the digits state.
bool ReadHex(std::string_view digits, std::string* key) {
  if (digits.substr(0, 2) == "0x") {
    digits.remove_prefix(2);
  }
  key->clear();
  for (; digits.size() >= 2; digits.remove_prefix(2)) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + 2, byte, 16);
    if (error != std::errc() || end != digits.data() + 2) {
      return false;
    }
    key->push_back(static_cast<char>(byte));
  }
  return digits.empty();
}

}  // namespace

TextTrace::TextTrace(const std::string& path) : bytes_(path) {
  std::string line;
  if (bytes_.ReadLine(&line) == TraceBytes::Line::kComplete) {
    Recognize(WithoutByteOrderMark(line));
  }
  if (parser_ == nullptr) {
    throw std::invalid_argument(path +
                                ": is no trace that rocktune reads; see docs/traces.md for the formats");
  }
  GoToFirstOperation();
}

void TextTrace::Restart() { GoToFirstOperation(); }

void TextTrace::GoToFirstOperation() {
  bytes_.Restart();
  notes_.clear();
  second_.reset();
  std::string line;
  for (std::size_t i = 0; i < header_lines_; ++i) {
    bytes_.ReadLine(&line);
  }
}

void TextTrace::Recognize(const std::string& line) {
  uint64_t number = 0;
  const std::vector<std::string_view> words = Split(line, ' ');
  const std::vector<std::string_view> fields = Fields(line);
  if (words.size() == 5 && ReadNumber(words[1], &number) && ReadNumber(words[4], &number)) {
    parser_ = &TextTrace::ParseAnalyzer;
    separator_ = ' ';
  } else if (words.size() == 4 && ReadNumber(words[0], &number) && ReadNumber(words[3], &number)) {
    throw std::invalid_argument(bytes_.path() + ": has no keys; run trace_analyzer without --no_key");
  } else if (fields.size() == 7 && ReadNumber(fields[0], &number)) {
    parser_ = &TextTrace::ParseTwitter;
    resolution_us_ = kSecondUs;
  } else if (fields.size() >= 3) {
    NameColumns(fields);
  }
}

void TextTrace::NameColumns(const std::vector<std::string_view>& names) {
  const std::array<std::pair<std::string_view, std::size_t*>, 7> known = {
      {{"time_us", &columns_.time_us},
       {"operation", &columns_.operation},
       {"key", &columns_.key},
       {"family", &columns_.family},
       {"value_bytes", &columns_.value_bytes},
       {"scan_length", &columns_.scan_length},
       {"end_key", &columns_.end_key}}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const auto& [name, position] : known) {
      if (names[i] == name) {
        *position = i;
      }
    }
  }
  for (std::size_t required = 0; required < 3; ++required) {
    if (*known[required].second == kMissing) {
      throw std::invalid_argument(bytes_.path() + ": line 1: the column '" +
                                  std::string(known[required].first) +
                                  "' is missing; name the columns time_us, operation and key there");
    }
  }
  parser_ = &TextTrace::ParseCsv;
  header_lines_ = 1;
}

std::vector<std::string_view> TextTrace::Fields(std::string_view line) {
  const bool may_have_quotes = parser_ == nullptr || parser_ == &TextTrace::ParseCsv;
  if (!may_have_quotes || line.find('"') == std::string_view::npos) {
    return Split(line, separator_);
  }
  std::vector<std::string_view> fields;
  unquoted_.clear();
  for (;;) {
    if (line.substr(0, 1) == "\"") {
      line.remove_prefix(1);
      if (!TakeQuoted(&line, &unquoted_.emplace_back()) || (!line.empty() && line[0] != ',')) {
        return {};
      }
      fields.push_back(unquoted_.back());
    } else {
      fields.push_back(line.substr(0, line.find(',')));
      line.remove_prefix(fields.back().size());
    }
    if (line.empty()) {
      return fields;
    }
    line.remove_prefix(1);
  }
}

bool TextTrace::Next(TraceEvent* event) {
  if (second_) {
    *event = std::move(*second_);
    second_.reset();
    return true;
  }
  std::string line;
  for (;;) {
    switch (bytes_.ReadLine(&line)) {
      case TraceBytes::Line::kEnd:
        return false;
      case TraceBytes::Line::kBinary:
        notes_["bytes behind the last line of text left out"] = bytes_.size() - bytes_.position();
        return false;
      case TraceBytes::Line::kOverlong:
        ++notes_[kMalformed];
        continue;
      case TraceBytes::Line::kComplete:
        break;
    }
    *event = TraceEvent();
    if (const char* const left_out = (this->*parser_)(Fields(line), event); left_out != nullptr) {
      ++notes_[left_out];
    } else if (event->kind != OperationKind::kDeleteRange || HasRange(*event)) {
      return true;
    }
  }
}

bool TextTrace::HasRange(const TraceEvent& event) {
  if (event.bound.empty()) {  // trace_analyzer writes the beginning alone
    ++notes_["range deletes whose end the text does not state left out"];
  } else if (event.bound <= event.key) {
    ++notes_[kEmptyRangeNote];
  }
  return event.bound > event.key;
}

const char* TextTrace::SetKind(std::string_view name, TraceEvent* event) {
  std::string lower;
  for (const char letter : name) {
    lower.push_back(letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter);
  }
  if (lower == kReadModifyWrite) {
    ++notes_["read-modify-writes replayed as gets and puts"];
    event->kind = OperationKind::kGet;
    second_ = *event;
    second_->kind = OperationKind::kPut;
    return nullptr;
  }
  for (const NamedKind& known : kNamedKinds) {
    if (known.name == lower) {
      event->kind = known.kind;
      if (known.note != nullptr) {
        ++notes_[known.note];
      }
      return nullptr;
    }
  }
  return kUnknownOperation;
}

const char* TextTrace::ParseCsv(const std::vector<std::string_view>& fields, TraceEvent* event) {
  const auto field = [&](std::size_t column) {
    return column < fields.size() ? fields[column] : std::string_view();
  };
  // Sets a number whose field may be empty; returns false for text.
  const auto read = [&](std::size_t column, uint64_t* number) {
    return field(column).empty() || ReadPrinted(field(column), number);
  };
  uint64_t family = 0;
  uint64_t bytes = 0;
  event->key = field(columns_.key);
  if (!ReadPrinted(field(columns_.time_us), &event->time_us) || event->key.empty() ||
      !read(columns_.value_bytes, &bytes) || !read(columns_.scan_length, &event->scan_length)) {
    return kMalformed;
  }
  if (!read(columns_.family, &family) || family > std::numeric_limits<uint32_t>::max()) {
    return kNamedFamily;
  }
  event->family_id = static_cast<uint32_t>(family);
  if (!field(columns_.value_bytes).empty()) {
    event->value_bytes = bytes;
  }
  if (const char* const unknown = SetKind(field(columns_.operation), event); unknown != nullptr) {
    return unknown;
  }
  if (event->kind == OperationKind::kDeleteRange) {
    event->bound = field(columns_.end_key);
  }
  return nullptr;
}

const char* TextTrace::ParseTwitter(const std::vector<std::string_view>& fields, TraceEvent* event) {
  uint64_t seconds = 0;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  if (fields.size() != 7 || !ReadNumber(fields[0], &seconds) || fields[1].empty() ||
      !ReadNumber(fields[2], &key_bytes) || !ReadNumber(fields[3], &value_bytes) ||
      seconds > std::numeric_limits<uint64_t>::max() / kSecondUs) {
    return kMalformed;
  }
  event->time_us = seconds * kSecondUs;
  event->key = fields[1];
  if (value_bytes > 0) {  // 0 is that of a lookup that found nothing
    event->value_bytes = value_bytes;
  }
  if (fields[6] != "0") {
    ++notes_["times to live left out"];
  }
  return SetKind(fields[5], event);
}

const char* TextTrace::ParseAnalyzer(const std::vector<std::string_view>& fields, TraceEvent* event) {
  uint64_t kind = 0;
  uint64_t family = 0;
  uint64_t value_bytes = 0;
  if (fields.size() != 5 || !ReadHex(fields[0], &event->key) || !ReadNumber(fields[1], &kind) ||
      kind >= kAnalyzerKinds.size() || !ReadNumber(fields[2], &family) ||
      family > std::numeric_limits<uint32_t>::max() || !ReadNumber(fields[3], &value_bytes) ||
      !ReadNumber(fields[4], &event->time_us)) {
    return kMalformed;
  }
  event->family_id = static_cast<uint32_t>(family);
  SetKind(kAnalyzerKinds[kind], event);
  if (event->kind == OperationKind::kPut) {
    event->value_bytes = value_bytes;
  }
  return nullptr;
}

}  // namespace rocktune
