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

std::vector<std::string_view> Split(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

// The kind of an operation, and how it is replayed if that is another operation; nullptr otherwise.
struct NamedKind {
  std::string_view name;
  OperationKind kind;
  const char* note;
};

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
    Recognize(line);
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
  std::string line;
  for (std::size_t i = 0; i < header_lines_; ++i) {
    bytes_.ReadLine(&line);
  }
}

void TextTrace::Recognize(const std::string& line) {
  uint64_t number = 0;
  const std::vector<std::string_view> words = Split(line, ' ');
  const std::vector<std::string_view> fields = Split(line, ',');
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

bool TextTrace::Next(TraceEvent* event) {
  std::string line;
  for (;;) {
    switch (bytes_.ReadLine(&line)) {
      case TraceBytes::Line::kEnd:
        return false;
      case TraceBytes::Line::kBinary:
        notes_["bytes behind the last line of text left out"] = bytes_.size() - bytes_.position();
        return false;
      case TraceBytes::Line::kOverlong:
        ++notes_["malformed lines left out"];
        continue;
      case TraceBytes::Line::kComplete:
        break;
    }
    *event = TraceEvent();
    if (!(this->*parser_)(Split(line, separator_), event)) {
      ++notes_["malformed lines left out"];
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

bool TextTrace::SetKind(std::string_view name, TraceEvent* event) {
  for (const NamedKind& known : kNamedKinds) {
    if (known.name == name) {
      event->kind = known.kind;
      if (known.note != nullptr) {
        ++notes_[known.note];
      }
      return true;
    }
  }
  return false;
}

bool TextTrace::ParseCsv(const std::vector<std::string_view>& fields, TraceEvent* event) {
  const auto field = [&](std::size_t column) {
    return column < fields.size() ? fields[column] : std::string_view();
  };
  uint64_t family = 0;
  uint64_t bytes = 0;
  event->key = field(columns_.key);
  if (!ReadNumber(field(columns_.time_us), &event->time_us) || event->key.empty() ||
      (!field(columns_.family).empty() && !ReadNumber(field(columns_.family), &family)) ||
      family > std::numeric_limits<uint32_t>::max() ||
      (!field(columns_.value_bytes).empty() && !ReadNumber(field(columns_.value_bytes), &bytes)) ||
      (!field(columns_.scan_length).empty() &&
       !ReadNumber(field(columns_.scan_length), &event->scan_length))) {
    return false;
  }
  event->family_id = static_cast<uint32_t>(family);
  if (!field(columns_.value_bytes).empty()) {
    event->value_bytes = bytes;
  }
  if (!SetKind(field(columns_.operation), event)) {
    return false;
  }
  if (event->kind == OperationKind::kDeleteRange) {
    event->bound = field(columns_.end_key);
  }
  return true;
}

bool TextTrace::ParseTwitter(const std::vector<std::string_view>& fields, TraceEvent* event) {
  uint64_t seconds = 0;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  if (fields.size() != 7 || !ReadNumber(fields[0], &seconds) || fields[1].empty() ||
      !ReadNumber(fields[2], &key_bytes) || !ReadNumber(fields[3], &value_bytes) ||
      seconds > std::numeric_limits<uint64_t>::max() / kSecondUs) {
    return false;
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

bool TextTrace::ParseAnalyzer(const std::vector<std::string_view>& fields, TraceEvent* event) {
  uint64_t kind = 0;
  uint64_t family = 0;
  uint64_t value_bytes = 0;
  if (fields.size() != 5 || !ReadHex(fields[0], &event->key) || !ReadNumber(fields[1], &kind) ||
      kind >= kAnalyzerKinds.size() || !ReadNumber(fields[2], &family) ||
      family > std::numeric_limits<uint32_t>::max() || !ReadNumber(fields[3], &value_bytes) ||
      !ReadNumber(fields[4], &event->time_us) || !SetKind(kAnalyzerKinds[kind], event)) {
    return false;
  }
  event->family_id = static_cast<uint32_t>(family);
  if (event->kind == OperationKind::kPut) {
    event->value_bytes = value_bytes;
  }
  return true;
}

}  // namespace rocktune
