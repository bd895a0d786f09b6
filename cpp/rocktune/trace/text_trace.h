#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocktune/trace/trace_bytes.h"
#include "rocktune/trace/trace_source.h"

namespace rocktune {

// A trace with an operation a line. Malformed lines are left out, and a note counts them.
class TextTrace : public TraceSource {
 public:
  // Opens a CSV file, a cache trace of Twitter or the text of trace_analyzer, by its first line.
  explicit TextTrace(const std::string& path);

  bool Next(TraceEvent* event) override;
  void Restart() override;
  uint64_t bytes_read() const override { return bytes_.position(); }
  uint64_t file_bytes() const override { return bytes_.size(); }
  uint64_t resolution_us() const override { return resolution_us_; }
  const TraceNotes& notes() const override { return notes_; }

 private:
  // Returns the fields of a line. Those of a CSV file may be in quotes; no field if quotes are not closed.
  // Valid until the next call.
  std::vector<std::string_view> Fields(std::string_view line);
  // Reads the fields of a line. Returns the note on a line that is left out, else nullptr.
  using Parser = const char* (TextTrace::*)(const std::vector<std::string_view>& fields, TraceEvent* event);

  const char* ParseCsv(const std::vector<std::string_view>& fields, TraceEvent* event);
  const char* ParseTwitter(const std::vector<std::string_view>& fields, TraceEvent* event);
  const char* ParseAnalyzer(const std::vector<std::string_view>& fields, TraceEvent* event);
  // Returns true if a range delete states a range; otherwise adds a note.
  bool HasRange(const TraceEvent& event);
  // Sets the kind of an operation by its name in any case, once its key and sizes are set. Returns the note
  // on an operation that is not known, else nullptr.
  const char* SetKind(std::string_view name, TraceEvent* event);
  void GoToFirstOperation();
  // Finds the format in the first line.
  void Recognize(const std::string& line);
  void NameColumns(const std::vector<std::string_view>& names);

  // Positions of a CSV file's columns; kMissing if it lacks one.
  static constexpr std::size_t kMissing = static_cast<std::size_t>(-1);
  struct Columns {
    std::size_t time_us = kMissing, operation = kMissing, key = kMissing, family = kMissing,
                value_bytes = kMissing, scan_length = kMissing, end_key = kMissing;
  };

  TraceBytes bytes_;
  TraceNotes notes_;
  Parser parser_ = nullptr;
  char separator_ = ',';
  std::deque<std::string> unquoted_;  // fields that were in quotes
  std::optional<TraceEvent> second_;  // the other operation of the last line, which has two
  uint64_t resolution_us_ = 1;
  std::size_t header_lines_ = 0;
  Columns columns_;
};

}  // namespace rocktune
