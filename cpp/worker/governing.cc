#include "worker/governing.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "rocktune/runner/option_value.h"
#include "rocktune/runner/run_error.h"

namespace rocktune {
namespace {

[[noreturn]] void Refuse(const std::string& name, const std::string& problem) {
  throw RunError(RunFailure::kInvalid, "option '" + name + "' (governor): " + problem);
}

uint64_t WholeNumber(const std::string& name, const std::string& text) {
  const std::optional<uint64_t> number = ParseOptionBytes(text);
  if (!number) {
    Refuse(name, "'" + text + "' is no whole number");
  }
  return *number;
}

double Number(const std::string& name, const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, number);
      read.ec != std::errc() || read.ptr != end) {
    Refuse(name, "'" + text + "' is no number");
  }
  return number;
}

GovernorMode Mode(const std::string& name, const std::string& text) {
  if (text == "toggle") {
    return GovernorMode::kToggle;
  }
  if (text == "proportional") {
    return GovernorMode::kProportional;
  }
  Refuse(name, "'" + text + "' is neither toggle nor proportional");
}

bool Truth(const std::string& name, const std::string& text) {
  if (text != "true" && text != "false") {
    Refuse(name, "'" + text + "' is neither true nor false");
  }
  return text == "true";
}

std::string Text(double number) {
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), written.ptr};
}

}  // namespace

GovernorOptions GovernorOptionsFromMap(const OptionMaps::Map& map) {
  GovernorOptions options;
  using Set = std::function<void(const std::string& name, const std::string& text)>;
  const auto whole = [](uint64_t* to) {
    return [to](const std::string& name, const std::string& text) { *to = WholeNumber(name, text); };
  };
  const auto number = [](double* to) {
    return [to](const std::string& name, const std::string& text) { *to = Number(name, text); };
  };
  const std::map<std::string, Set> settings = {
      {"mode", [&](const std::string& name, const std::string& text) { options.mode = Mode(name, text); }},
      {"device_bytes_per_s", whole(&options.device_bytes_per_s)},
      {"max_flush_bytes_per_s", whole(&options.max_flush_bytes_per_s)},
      {"debt_bytes", whole(&options.debt_bytes)},
      {"debt_runs", whole(&options.debt_runs)},
      {"interval_us", whole(&options.interval_us)},
      {"flush_share", number(&options.watermarks.flush_share)},
      {"total_share", number(&options.watermarks.total_share)},
      {"merge_level0",
       [&](const std::string& name, const std::string& text) { options.merge_level0 = Truth(name, text); }},
  };
  for (const auto& [name, text] : map) {
    const auto setting = settings.find(name);
    if (setting == settings.end()) {
      Refuse(name, "there is no such setting");
    }
    setting->second(name, text);
  }
  GovernorOptions tried = options;
  tried.device_bytes_per_s = std::max<uint64_t>(1, tried.device_bytes_per_s);
  if (const rocksdb::Status status = CompactionGovernor::Check(tried); !status.ok()) {
    throw RunError(RunFailure::kInvalid, "governor: " + status.ToString());
  }
  return options;
}

OptionMaps::Map MapFromGovernorOptions(const GovernorOptions& options) {
  return {{"mode", options.mode == GovernorMode::kToggle ? "toggle" : "proportional"},
          {"device_bytes_per_s", std::to_string(options.device_bytes_per_s)},
          {"max_flush_bytes_per_s", std::to_string(options.max_flush_bytes_per_s)},
          {"debt_bytes", std::to_string(options.debt_bytes)},
          {"debt_runs", std::to_string(options.debt_runs)},
          {"interval_us", std::to_string(options.interval_us)},
          {"flush_share", Text(options.watermarks.flush_share)},
          {"total_share", Text(options.watermarks.total_share)},
          {"merge_level0", options.merge_level0 ? "true" : "false"}};
}

nlohmann::json ToJson(const GovernorCounters& counters) {
  const GovernorDecision& last = counters.last;
  return {{"intervals", counters.intervals},
          {"discarded_intervals", counters.discarded_intervals},
          {"switched_off", counters.switched_off},
          {"switched_on", counters.switched_on},
          {"failed_changes", counters.failed_changes},
          {"level0_merges", counters.level0_merges},
          {"level0_merged_tables", counters.level0_merged_tables},
          {"compaction_waited_s", static_cast<double>(counters.compaction_waited_ns) / 1e9},
          {"compactions_off", last.compactions_off},
          {"compaction_bytes_per_s", last.compaction_bytes_per_s},
          {"flush_share", last.flush_share},
          {"total_share", last.total_share},
          {"debt_share", last.debt_share},
          {"pending_bytes", last.sample.pending_bytes},
          {"sorted_runs", last.sample.sorted_runs},
          {"flushes_lag", last.sample.flushes_lag}};
}

}  // namespace rocktune
