#include "rocktune/governor/original_options.h"

#include <rocksdb/env.h>
#include <rocksdb/slice.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "rocktune/util/durable_file.h"

namespace rocktune {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GovernedOptions, disable_auto_compactions, level0_slowdown_writes_trigger,
                                   level0_stop_writes_trigger, soft_pending_compaction_bytes_limit,
                                   hard_pending_compaction_bytes_limit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DebtBounds, runs, bytes)

namespace {

constexpr int kFormat = 1;
constexpr const char* kNote =
    "Options of the column families before a rocktune::CompactionGovernor changed them. It restores them and "
    "deletes this file when it is detached. After a kill, attach a governor again, call "
    "CompactionGovernor::Recover, or set these options yourself.";

// A column family's name may have any bytes, JSON only UTF-8. So name_hex counts; `name` is for people.
nlohmann::json ToJson(const OriginalsByFamily& originals) {
  nlohmann::json families = nlohmann::json::array();
  for (const auto& [name, original] : originals) {
    families.push_back({{"name", name},
                        {"name_hex", rocksdb::Slice(name).ToString(true)},
                        {"options", original.options},
                        {"debt_bounds", original.bounds}});
  }
  return {{"note", kNote}, {"format", kFormat}, {"column_families", families}};
}

// Returns the original options in the file's JSON. Throws nlohmann's exceptions for missing fields and wrong
// types, and std::invalid_argument for an unknown format or a bad name.
OriginalsByFamily FromJson(const nlohmann::json& json) {
  if (json.at("format") != kFormat) {
    throw std::invalid_argument("its format is unknown to this version of rocktune");
  }
  OriginalsByFamily originals;
  for (const nlohmann::json& each : json.at("column_families")) {
    std::string name;
    if (!rocksdb::Slice(each.at("name_hex").get_ref<const std::string&>()).DecodeHex(&name)) {
      throw std::invalid_argument("a name_hex is not hexadecimal");
    }
    originals[name] = {each.at("options").get<GovernedOptions>(),
                       each.at("debt_bounds").get<std::vector<DebtBounds>>()};
  }
  return originals;
}

}  // namespace

rocksdb::Status ReadOriginals(rocksdb::DB* db, OriginalsByFamily* originals) {
  originals->clear();
  const std::string path = db->GetName() + "/" + kOriginalOptionsFile;
  rocksdb::Status status = db->GetEnv()->FileExists(path);
  if (status.IsNotFound()) {
    return rocksdb::Status::OK();
  }
  std::string text;
  if (status.ok()) {
    status = rocksdb::ReadFileToString(db->GetEnv(), path, &text);
  }
  if (status.ok()) {
    try {
      *originals = FromJson(nlohmann::json::parse(text));
    } catch (const std::exception& error) {
      status = rocksdb::Status::Corruption(
          path + " cannot be parsed; set the column families' options yourself and delete it", error.what());
    }
  }
  return status;
}

rocksdb::Status WriteOriginals(rocksdb::DB* db, const OriginalsByFamily& originals) {
  if (originals.empty()) {
    return DeleteReplacedFile(db->GetEnv(), db->GetName(), kOriginalOptionsFile);
  }
  const std::string text =
      ToJson(originals).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return ReplaceFile(db->GetEnv(), db->GetName(), kOriginalOptionsFile, text);
}

OriginalOptions OriginalOptionsOf(const OriginalsByFamily& kept, const std::string& family,
                                  const GovernedOptions& options, const DebtBounds& bounds) {
  OriginalOptions originals = {options, {}};
  if (const auto found = kept.find(family); found != kept.end()) {
    const auto raised = [&](const DebtBounds& each) { return AreRaisedTriggers(options, each); };
    if (std::any_of(found->second.bounds.begin(), found->second.bounds.end(), raised)) {
      originals = found->second;
    }
  }
  if (std::find(originals.bounds.begin(), originals.bounds.end(), bounds) == originals.bounds.end()) {
    originals.bounds.push_back(bounds);
  }
  return originals;
}

}  // namespace rocktune
