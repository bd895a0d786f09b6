#include "worker/session.h"

#include <rocksdb/convenience.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "rocktune/device/device_spec_json.h"
#include "rocktune/flsm/flsm_json.h"
#include "rocktune/flsm/flsm_options_map.h"
#include "rocktune/governor/governor_counters.h"
#include "rocktune/governor/governor_options_map.h"
#include "rocktune/options/mutable_options.h"
#include "rocktune/options/watched_trial.h"
#include "rocktune/runner/options_examination.h"
#include "rocktune/runner/process_usage.h"
#include "rocktune/trace/trace_import.h"
#include "rocktune/trace/trace_sample.h"
#include "rocktune/util/rocksdb_compat.h"
#include "worker/command_fields.h"
#include "worker/device_command.h"
#include "worker/migrate_command.h"
#include "worker/tables_command.h"

namespace rocktune {
namespace {

constexpr int kProtocol = 7;

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

RunRequest ReadRequest(const nlohmann::json& command) {
  CheckFields(command, {"directory", "options", "workload", "device", "seed", "series_interval_s",
                        "memory_limit_bytes", "disk_limit_bytes"});
  RunRequest request;
  request.directory = command.at("directory").get<std::string>();
  request.options = OptionMapsFromJson(command.at("options"));
  request.workload = WorkloadSpecFromJson(command.at("workload"));
  request.device = DeviceSpecFromJson(command.at("device"));
  request.seed = WholeNumber(command, "seed");
  request.series_interval_s = command.at("series_interval_s").get<double>();
  request.memory_limit_bytes = WholeNumber(command, "memory_limit_bytes");
  request.disk_limit_bytes = WholeNumber(command, "disk_limit_bytes");
  return request;
}

}  // namespace

Session::Session(std::function<void(const nlohmann::json&)> send,
                 std::function<void(const RunError&)> on_overrun)
    : send_(std::move(send)), on_overrun_(std::move(on_overrun)) {}

Session::~Session() = default;

nlohmann::json Session::Hello() {
  std::vector<std::string> compressions;
  for (const rocksdb::CompressionType type : rocksdb::GetSupportedCompressions()) {
    std::string name;
    if (rocksdb::GetStringFromCompressionType(&name, type).ok()) {
      compressions.push_back(name);
    }
  }
  return {{"event", "hello"},
          {"protocol", kProtocol},
          {"rocksdb_version", RocksDbVersion()},
          {"assertions", RocksDbAssertionsOn()},
          {"compressions", compressions}};
}

nlohmann::json Session::ErrorLine(const RunError& error) {
  return {
      {"event", "error"}, {"status", RunFailureName(error.failure())}, {"message", OneLine(error.what())}};
}

Session::Next Session::Handle(const std::string& line) {
  Next next = Next::kGoOn;
  try {
    send_(Reply(nlohmann::json::parse(line), &next));
  } catch (const RunError& error) {
    send_(ErrorLine(error));
    next = Next::kFailed;
  } catch (const nlohmann::json::exception& error) {
    send_(ErrorLine(RunError(RunFailure::kInvalid, std::string("malformed command: ") + error.what())));
    next = Next::kFailed;
  } catch (const std::invalid_argument& error) {  // from WorkloadSpecFromJson or DeviceSpecFromJson
    send_(ErrorLine(RunError(RunFailure::kInvalid, error.what())));
    next = Next::kFailed;
  } catch (const std::bad_alloc&) {
    send_(ErrorLine(RunError(RunFailure::kOutOfMemory, "the system has no more memory")));
    next = Next::kFailed;
  } catch (const std::exception& error) {
    send_(ErrorLine(RunError(RunFailure::kCrashed, error.what())));
    next = Next::kFailed;
  }
  return next;
}

nlohmann::json Session::Reply(const nlohmann::json& command, Next* next) {
  const std::string name = command.at("command").get<std::string>();
  if (run_ == nullptr) {
    if (std::optional<nlohmann::json> reply = ReplyWithoutRun(name, command)) {
      return *std::move(reply);
    }
  }
  if (name == "load") {
    CheckFields(command, {});
    return Load();
  }
  if (name == "advance") {
    return Advance(command);
  }
  if (name == "set_policy") {
    return SetPolicy(command);
  }
  if (name == "start_trace") {
    return StartTrace(command);
  }
  if (name == "end_trace") {
    CheckFields(command, {});
    return EndTrace();
  }
  if (name == "park") {
    CheckFields(command, {});
    return Park();
  }
  if (name == "close") {
    return Close(command, next);
  }
  throw RunError(RunFailure::kInvalid,
                 "there is no command '" + name + "'" + (run_ ? " once a run is open" : ""));
}

std::optional<nlohmann::json> Session::ReplyWithoutRun(const std::string& name,
                                                       const nlohmann::json& command) {
  if (name == "check_options") {
    return CheckOptions(command);
  }
  if (name == "examine_options") {
    return ExamineOptions(command);
  }
  if (name == "mutable_options") {
    CheckFields(command, {});
    const MutableOptions names = MutableOptionsOfRocksDb();
    return nlohmann::json{{"event", "mutable"}, {"db", names.db}, {"cf", names.cf}, {"table", names.table}};
  }
  if (name == "try_watched") {
    return TryWatchedFile(command);
  }
  if (name == "measure_device") {
    return MeasureDevice(command);
  }
  if (name == "read_tables") {
    CheckFields(command, {"directories"});
    return ToJson(ReadTables(command.at("directories").get<std::vector<std::string>>(), ProgressSender()));
  }
  if (name == "copy_store") {
    return CopyStoreCommand(command, ProgressSender());
  }
  if (name == "rewrite_store") {
    return RewriteStoreCommand(command, ProgressSender());
  }
  if (name == "import_trace") {
    return ImportTrace(command);
  }
  if (name == "sample_trace") {
    return SampleTrace(command);
  }
  return name == "open" ? std::optional(Open(command)) : std::nullopt;
}

nlohmann::json Session::CheckOptions(const nlohmann::json& command) const {
  CheckFields(command, {"options"});
  const OptionMaps given = OptionMapsFromJson(command.at("options"));
  const rocksdb::Options options = OptionsFromMaps({given.db, given.cf, given.table});
  OptionMaps effective = MapsFromOptions(options, options);
  for (const auto& [name, own] : given.families) {
    const rocksdb::ColumnFamilyDescriptor family = FamiliesFromMaps(given, {name}).front();
    OptionMaps of_family = MapsFromOptions(options, family.options);
    effective.families[name] = {std::move(of_family.cf), std::move(of_family.table)};
  }
  if (!given.governor.empty()) {
    effective.governor = MapFromGovernorOptions(GovernorOptionsFromMap(given.governor));
  }
  if (!given.flsm.empty()) {
    effective.flsm = MapFromFlsmOptions(FlsmOptionsFromMap(given.flsm));
  }
  return {{"event", "options"}, {"options", ToJson(effective)}};
}

nlohmann::json Session::ExamineOptions(const nlohmann::json& command) const {
  CheckFields(command, {"options"});
  const OptionMaps given = OptionMapsFromJson(command.at("options"));
  if (!given.governor.empty() || !given.flsm.empty() || !given.families.empty()) {
    throw RunError(RunFailure::kInvalid,
                   "examine_options: only RocksDB's own options of one column family can be examined");
  }
  const OptionsExamination examination = rocktune::ExamineOptions(given);
  return {{"event", "examined"},
          {"refused", examination.refused},
          {"misread", examination.misread},
          {"ignored", examination.ignored},
          {"parsed", ToJson(examination.parsed)},
          {"opened", ToJson(examination.opened)},
          {"open_error", examination.open_error}};
}

nlohmann::json Session::TryWatchedFile(const nlohmann::json& command) const {
  CheckFields(command, {"present", "text"});
  const OptionsReport report = TryWatched(OptionMapsFromJson(command.at("present")), command.at("text"));
  const bool taken = report.outcome == OptionsOutcome::kApplied;
  return {{"event", "watched_tried"}, {"refused", taken ? "" : report.reason}};
}

nlohmann::json Session::MeasureDevice(const nlohmann::json& command) const {
  CheckFields(command, {"directory", "bytes", "seconds"});
  DeviceMeasurementRequest request;
  request.directory = command.at("directory").get<std::string>();
  request.bytes = WholeNumber(command, "bytes");
  request.seconds = command.at("seconds").get<double>();
  const DeviceMeasurement measurement = MeasureDeviceOfDirectory(request, ProgressSender());
  const DeviceSpec& spec = measurement.spec;
  return {{"event", "device_measured"},
          {"device",
           {{"bandwidth_bytes_s", spec.bandwidth_bytes_s},
            {"iops", spec.iops},
            {"read_latency_us", spec.read_latency_us},
            {"write_latency_us", spec.write_latency_us},
            {"sync_latency_us", spec.sync_latency_us}}},
          {"written_bytes", measurement.written_bytes}};
}

nlohmann::json Session::ImportTrace(const nlohmann::json& command) const {
  CheckFields(command, {"source", "target", "unknown_scan_length", "preload_from"});
  TraceImportRequest request;
  request.preload_from = command.at("preload_from").get<std::string>();
  request.source = command.at("source").get<std::string>();
  request.target = command.at("target").get<std::string>();
  request.unknown_scan_length = WholeNumber(command, "unknown_scan_length");
  return {{"event", "trace_imported"}, {"summary", ToJson(rocktune::ImportTrace(request, ProgressSender()))}};
}

nlohmann::json Session::SampleTrace(const nlohmann::json& command) const {
  CheckFields(command, {"path", "scale"});
  const std::string path = command.at("path").get<std::string>();
  const uint64_t scale = WholeNumber(command, "scale");
  const TraceSummary summary = scale > 1 ? rocktune::SampleTrace(path, scale) : TraceFile(path).summary();
  return {{"event", "trace_sampled"}, {"summary", ToJson(summary)}};
}

nlohmann::json Session::Open(const nlohmann::json& command) {
  const auto begin = std::chrono::steady_clock::now();
  run_ = std::make_unique<Run>(ReadRequest(command), on_overrun_);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return {{"event", "opened"}, {"seconds", seconds.count()}, {"options", ToJson(run_->options())}};
}

nlohmann::json Session::Load() {
  Run& run = OpenRun();
  if (advanced_) {
    throw RunError(RunFailure::kInvalid, "load must come before the first advance");
  }
  const auto begin = std::chrono::steady_clock::now();
  const uint64_t keys = run.Load(ProgressSender());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return {{"event", "loaded"}, {"seconds", seconds.count()}, {"keys", keys}};
}

nlohmann::json Session::Advance(const nlohmann::json& command) {
  nlohmann::json given = {{"operations", 0U}};
  given.update(command);
  CheckFields(given, {"until_s", "operations"});
  Run& run = OpenRun();
  advanced_ = true;
  const WindowEnd end{given.at("until_s").get<double>(), WholeNumber(given, "operations")};
  nlohmann::json measurement = ToJson(run.Advance(end, ProgressSender()));
  if (const std::optional<FlsmShape> shape = run.Shape()) {
    measurement["flsm"] = ToJson(*shape);
    measurement["flsm"]["statistics"] = ToJson(*run.ShapedStatistics());
  }
  if (const std::optional<GovernorCounters> governed = run.Governed()) {
    measurement["governor"] = ToJson(*governed);
  }
  return measurement;
}

nlohmann::json Session::SetPolicy(const nlohmann::json& command) {
  CheckFields(command, {"level", "policy", "transition"});
  const auto small = [&command](const char* field) {
    return static_cast<int>(std::min<uint64_t>(WholeNumber(command, field), 1000));
  };
  const FlsmTransition transition = TransitionNamed(command.at("transition").get<std::string>());
  OpenRun().SetPolicy(small("level"), small("policy"), transition);
  return {{"event", "policy_set"}};
}

nlohmann::json Session::StartTrace(const nlohmann::json& command) {
  CheckFields(command, {"path"});
  OpenRun().StartTrace(command.at("path").get<std::string>());
  return {{"event", "trace_started"}};
}

nlohmann::json Session::EndTrace() {
  OpenRun().EndTrace();
  return {{"event", "trace_ended"}};
}

nlohmann::json Session::Park() {
  OpenRun();
  return {{"event", "parked"}, {"resident_bytes", ResidentBytes()}};
}

nlohmann::json Session::Close(const nlohmann::json& command, Next* next) {
  CheckFields(command, {"keep"});
  OpenRun();
  if (command.at("keep").get<bool>()) {
    run_->Close();
  }
  *next = Next::kEnd;
  return {{"event", "closed"}};
}

Run& Session::OpenRun() const {
  if (run_ == nullptr) {
    throw RunError(RunFailure::kInvalid, "no run is open");
  }
  return *run_;
}

Progress Session::ProgressSender() const {
  return [this](const char* phase, double done, double total) {
    send_({{"event", "progress"}, {"phase", phase}, {"done", done}, {"total", total}});
  };
}

}  // namespace rocktune
