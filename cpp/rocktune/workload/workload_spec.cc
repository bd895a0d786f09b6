#include "rocktune/workload/workload_spec.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "rocktune/util/json_fields.h"
#include "rocktune/workload/workload_json.h"

namespace rocktune {

namespace {

constexpr uint64_t kMaxValueBytes = 16 << 20;

PreloadSpec ReadPreload(const nlohmann::json& json, const std::string& path) {
  PreloadSpec spec;
  JsonFields fields(json, path);
  fields.Read("keys", &spec.keys);
  fields.Read("random_order", &spec.random_order);
  fields.RefuseUnknown();
  return spec;
}

TraceSpec ReadTrace(const nlohmann::json& json) {
  TraceSpec spec;
  JsonFields fields(json, "trace");
  fields.Read("path", &spec.path);
  fields.Read("scale", &spec.scale);
  fields.Read("operations", &spec.operations);
  fields.Read("seconds", &spec.seconds);
  fields.Find("preload");  // for reports; the file of operations has what is loaded
  fields.RefuseUnknown();
  Require(!spec.path.empty(), "trace.path", "given");
  Require(spec.scale >= 1, "trace.scale", "at least 1");
  return spec;
}

// A Pareto distribution rounds up from its location, which is at least 0.
uint64_t MinSize(const SizeSpec& size) { return size.kind == "pareto" ? 1 : size.low; }

uint64_t MaxSize(const SizeSpec& size) { return size.kind == "fixed" ? size.low : size.high; }

// The fields of LoadSpec that an object of the JSON has.
struct PartialLoad {
  std::optional<double> share;
  std::optional<OperationMix> mix;
  std::optional<KeyChooserSpec> key_chooser;
  std::optional<SizeSpec> value;
  std::optional<SizeSpec> scan_length;
  std::optional<SizeSpec> delete_range_keys;
};

// Reads the fields of LoadSpec. JSON's null means that the field is absent.
PartialLoad ReadLoad(JsonFields* fields) {
  PartialLoad load;
  const auto find = [fields](const char* name) {
    const nlohmann::json* json = fields->Find(name);
    return json == nullptr || json->is_null() ? nullptr : json;
  };
  if (const nlohmann::json* json = find("mix")) {
    load.mix = ReadMix(*json, fields->PathOf("mix"));
  }
  if (const nlohmann::json* json = find("key_chooser")) {
    load.key_chooser = ReadKeyChooser(*json, fields->PathOf("key_chooser"));
  }
  if (const nlohmann::json* json = find("value")) {
    load.value = ReadSize(*json, fields->PathOf("value"));
    Require(MaxSize(*load.value) <= kMaxValueBytes, fields->PathOf("value"), "at most 16 MiB");
  }
  if (const nlohmann::json* json = find("scan_length")) {
    load.scan_length = ReadSize(*json, fields->PathOf("scan_length"));
  }
  if (const nlohmann::json* json = find("delete_range_keys")) {
    load.delete_range_keys = ReadSize(*json, fields->PathOf("delete_range_keys"));
  }
  return load;
}

// Reads the fields of LoadSpec with `share`.
PartialLoad ReadFamilyLoad(JsonFields* fields) {
  PartialLoad load = ReadLoad(fields);
  if (const nlohmann::json* json = fields->Find("share"); json != nullptr && !json->is_null()) {
    load.share.emplace();
    fields->Read("share", &*load.share);
    Require(*load.share >= 0 && *load.share <= 1, fields->PathOf("share"), "in [0, 1]");
  }
  return load;
}

// Sets a field to the first value that is given.
template <typename Field>
void SetFirst(std::initializer_list<const std::optional<Field>*> given, Field* field) {
  for (const std::optional<Field>* each : given) {
    if (each->has_value()) {
      *field = **each;
      return;
    }
  }
}

// The families of a workload, and what the JSON says of their operations.
struct Families {
  std::vector<FamilySpec> specs;
  std::vector<PartialLoad> loads;
  std::vector<std::string> paths;  // what precedes the names of a family's fields in messages
};

void CheckFamilies(const Families& families) {
  for (std::size_t i = 0; i < families.specs.size(); ++i) {
    const FamilySpec& spec = families.specs[i];
    const std::string& path = families.paths[i];
    Require(spec.keys > 0 && spec.keys < kMaxCount, path + "keys", "above 0 and below 2^62");
    Require(spec.key_bytes >= 8 && spec.key_bytes <= 1024, path + "key_bytes", "between 8 and 1024");
    Require(spec.value_compressed_fraction > 0 && spec.value_compressed_fraction <= 1,
            path + "value_compressed_fraction", "in (0, 1]");
    Require(spec.preload.keys <= spec.keys, path + "preload.keys", "at most keys");
  }
}

// Reads the fields of FamilySpec but `name`; absent ones keep the values in `*spec`.
void ReadFamilyData(JsonFields* fields, FamilySpec* spec) {
  fields->Read("keys", &spec->keys);
  fields->Read("key_bytes", &spec->key_bytes);
  fields->Read("value_compressed_fraction", &spec->value_compressed_fraction);
  if (const nlohmann::json* json = fields->Find("preload")) {
    spec->preload = ReadPreload(*json, fields->PathOf("preload"));
  }
}

std::string ElementPath(const std::string& list, std::size_t index) {
  return list + "[" + std::to_string(index + 1) + "]";
}

// Reads the workload's own fields of FamilySpec and its `families`.
Families ReadFamilies(JsonFields* fields) {
  FamilySpec common;
  ReadFamilyData(fields, &common);
  Families families;
  const nlohmann::json* json = fields->Find("families");
  if (json == nullptr || json->empty()) {
    families.specs.push_back(common);
    families.loads.emplace_back();
    families.paths.emplace_back();
    return families;
  }
  Require(json->is_array(), "families", "a list");
  std::set<std::string> names;
  for (std::size_t i = 0; i < json->size(); ++i) {
    JsonFields own((*json)[i], ElementPath("families", i));
    FamilySpec spec{.key_bytes = common.key_bytes,
                    .value_compressed_fraction = common.value_compressed_fraction};
    own.Read("name", &spec.name);
    ReadFamilyData(&own, &spec);
    families.loads.push_back(ReadFamilyLoad(&own));
    own.RefuseUnknown();
    Require(names.insert(spec.name).second, own.PathOf("name"), "different from the other families' names");
    families.paths.push_back(own.PathOf(""));
    families.specs.push_back(std::move(spec));
  }
  return families;
}

// Returns what a session says of each family, in the families' order.
std::vector<PartialLoad> ReadSessionFamilies(JsonFields* fields, const Families& families) {
  std::vector<PartialLoad> loads(families.specs.size());
  const nlohmann::json* json = fields->Find("families");
  if (json == nullptr) {
    return loads;
  }
  Require(json->is_array(), fields->PathOf("families"), "a list");
  for (std::size_t i = 0; i < json->size(); ++i) {
    JsonFields own((*json)[i], ElementPath(fields->PathOf("families"), i));
    std::string name;
    own.Read("name", &name);
    const auto family = std::find_if(families.specs.begin(), families.specs.end(),
                                     [&](const FamilySpec& spec) { return spec.name == name; });
    Require(family != families.specs.end(), own.PathOf("name"), "the name of one of the workload's families");
    loads[static_cast<std::size_t>(family - families.specs.begin())] = ReadFamilyLoad(&own);
    own.RefuseUnknown();
  }
  return loads;
}

// Returns the operations of a session on a family: see WorkloadSpecFromJson.
LoadSpec Resolved(const PartialLoad& in_session, const PartialLoad& family, const PartialLoad& session,
                  const PartialLoad& workload, double equal_share, const std::string& path) {
  LoadSpec load;
  load.share = equal_share;
  SetFirst({&in_session.share, &family.share}, &load.share);
  SetFirst({&in_session.key_chooser, &family.key_chooser, &session.key_chooser, &workload.key_chooser},
           &load.key_chooser);
  SetFirst({&in_session.value, &family.value, &session.value, &workload.value}, &load.value);
  SetFirst({&in_session.scan_length, &family.scan_length, &session.scan_length, &workload.scan_length},
           &load.scan_length);
  Require(in_session.mix || family.mix || session.mix, path + ".mix", "given");
  SetFirst({&in_session.mix, &family.mix, &session.mix}, &load.mix);
  SetFirst({&in_session.delete_range_keys, &family.delete_range_keys, &session.delete_range_keys,
            &workload.delete_range_keys},
           &load.delete_range_keys);
  Require(load.mix[static_cast<std::size_t>(OperationKind::kDeleteRange)] == 0 ||
              MinSize(load.delete_range_keys) >= 1,
          "delete_range_keys", "given and at least 1, as the mix has delete_range");
  return load;
}

SessionSpec ReadSession(const nlohmann::json& json, const std::string& path, const Families& families,
                        const PartialLoad& workload) {
  SessionSpec spec;
  JsonFields fields(json, path);
  fields.Read("seconds", &spec.seconds);
  Require(spec.seconds == 0 || spec.seconds >= kMinSeconds, fields.PathOf("seconds"),
          "0 (the session never ends) or at least 0.001");
  if (const nlohmann::json* arrival = fields.Find("arrival")) {
    spec.arrival = ReadArrival(*arrival, fields.PathOf("arrival"));
  }
  const PartialLoad session = ReadLoad(&fields);
  const std::vector<PartialLoad> in_session = ReadSessionFamilies(&fields, families);
  fields.RefuseUnknown();
  double sum = 0;
  for (std::size_t i = 0; i < families.specs.size(); ++i) {
    spec.loads.push_back(Resolved(in_session[i], families.loads[i], session, workload,
                                  1 / static_cast<double>(families.specs.size()), path));
    Require(spec.loads.back().key_chooser.ranges <= families.specs[i].keys, "key_chooser.ranges",
            "at most keys");
    sum += spec.loads.back().share;
  }
  Require(std::abs(sum - 1) <= kMixTolerance, path,
          "a session whose families' shares sum to 1, not to " + std::to_string(sum));
  return spec;
}

std::vector<SessionSpec> ReadSessions(const nlohmann::json* json, const Families& families,
                                      const PartialLoad& workload) {
  Require(json != nullptr && json->is_array() && !json->empty(), "sessions",
          "a list of at least one session");
  std::vector<SessionSpec> sessions;
  for (const nlohmann::json& session : *json) {
    Require(sessions.empty() || sessions.back().seconds > 0, "sessions",
            "longer than 0 seconds, except for the last one");
    sessions.push_back(ReadSession(session, ElementPath("sessions", sessions.size()), families, workload));
  }
  return sessions;
}

}  // namespace

uint64_t WorkloadSpec::preload_keys() const {
  return std::accumulate(families.begin(), families.end(), uint64_t{0},
                         [](uint64_t sum, const FamilySpec& family) { return sum + family.preload.keys; });
}

uint64_t WorkloadSpec::max_value_bytes(std::size_t family) const {
  uint64_t bytes = MaxSize(families[family].value);
  for (const SessionSpec& session : sessions) {
    bytes = std::max(bytes, MaxSize(session.loads[family].value));
  }
  return bytes;
}

WorkloadSpec WorkloadSpecFromJson(const nlohmann::json& json) {
  WorkloadSpec spec;
  JsonFields fields(json, "");
  fields.Read("name", &spec.name);
  fields.Read("threads", &spec.threads);
  fields.Read("wal", &spec.wal);
  fields.Read("sync", &spec.sync);
  Families families = ReadFamilies(&fields);
  const PartialLoad workload = ReadLoad(&fields);
  const nlohmann::json* sessions = fields.Find("sessions");
  if (const nlohmann::json* trace = fields.Find("trace"); trace != nullptr && !trace->is_null()) {
    spec.trace = ReadTrace(*trace);
  }
  fields.RefuseUnknown();
  Require(spec.threads >= 1 && spec.threads <= 1024, "threads", "between 1 and 1024");
  Require(spec.wal || !spec.sync, "sync", "false if wal is false");
  Require(!workload.mix, "mix", "given in sessions or families");
  CheckFamilies(families);
  spec.sessions = ReadSessions(sessions, families, workload);
  for (const SessionSpec& session : spec.sessions) {
    Require(session.arrival.kind != "recorded" || !spec.trace.path.empty(), "arrival.kind",
            "another one than recorded without a trace");
  }
  Require(spec.trace.path.empty() || (spec.sessions.size() == 1 && spec.sessions.front().seconds == 0),
          "sessions", "one session without end for a trace");
  for (std::size_t i = 0; i < families.specs.size(); ++i) {
    SetFirst({&families.loads[i].value, &workload.value}, &families.specs[i].value);
  }
  spec.families = std::move(families.specs);
  return spec;
}

}  // namespace rocktune
