#include "rocktune/governor/governor_options_map.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/util/settings.h"

namespace rocktune {

namespace {

using NamedMode = std::pair<std::string, GovernorMode>;

std::vector<NamedMode> Modes() {
  return {{"toggle", GovernorMode::kToggle},
          {"proportional", GovernorMode::kProportional},
          {"drains", GovernorMode::kDrains}};
}

std::string NameOf(GovernorMode mode) {
  const std::vector<NamedMode> modes = Modes();
  return std::find_if(modes.begin(), modes.end(),
                      [mode](const NamedMode& each) { return each.second == mode; })
      ->first;
}

}  // namespace

GovernorOptions GovernorOptionsFromMap(const SettingsMap& map) {
  GovernorOptions options;
  Settings settings("governor");
  settings.BindEnum<GovernorMode>("mode", Modes(), &options.mode);
  settings.BindInteger("device_bytes_per_s", &options.device_bytes_per_s);
  settings.BindInteger("max_flush_bytes_per_s", &options.max_flush_bytes_per_s);
  settings.BindInteger("debt_bytes", &options.debt_bytes);
  settings.BindInteger("debt_runs", &options.debt_runs);
  settings.BindInteger("interval_us", &options.interval_us);
  settings.BindReal("flush_share", &options.watermarks.flush_share);
  settings.BindReal("total_share", &options.watermarks.total_share);
  settings.BindReal("min_compaction_share", &options.min_compaction_share);
  settings.BindBoolean("merge_level0", &options.merge_level0);
  settings.Read(map);
  if (const rocksdb::Status status = CompactionGovernor::Check(options); !status.ok()) {
    throw std::invalid_argument("governor: " + status.ToString());
  }
  return options;
}

SettingsMap MapFromGovernorOptions(const GovernorOptions& options) {
  return {{"mode", NameOf(options.mode)},
          {"device_bytes_per_s", std::to_string(options.device_bytes_per_s)},
          {"max_flush_bytes_per_s", std::to_string(options.max_flush_bytes_per_s)},
          {"debt_bytes", std::to_string(options.debt_bytes)},
          {"debt_runs", std::to_string(options.debt_runs)},
          {"interval_us", std::to_string(options.interval_us)},
          {"flush_share", NumberText(options.watermarks.flush_share)},
          {"total_share", NumberText(options.watermarks.total_share)},
          {"min_compaction_share", NumberText(options.min_compaction_share)},
          {"merge_level0", options.merge_level0 ? "true" : "false"}};
}

}  // namespace rocktune
