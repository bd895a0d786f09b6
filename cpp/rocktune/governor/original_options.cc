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
    "The column families' own options, which a rocktune::CompactionGovernor has changed. It restores them "
    "and "
    "deletes this file when it is detached. After a kill, attach a governor again, call "
    "CompactionGovernor::Recover, or set these options yourself.";

// Names may be of any bytes, which JSON cannot have.
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

// Throws nlohmann's exceptions, or invalid_argument, for what is none.
OriginalsByFamily FromJson(const nlohmann::json& json) {
  if (json.at("format") != kFormat) {
    throw std::invalid_argument("is of a format that this version does not know");
  }
  OriginalsByFamily originals;
  for (const nlohmann::json& each : json.at("column_families")) {
    std::string name;
    if (!rocksdb::Slice(each.at("name_hex").get_ref<const std::string&>()).DecodeHex(&name)) {
      throw std::invalid_argument("has a name that is not hexadecimal");
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
      status = rocksdb::Status::Corruption(path + ", where a governor kept options", error.what());
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

OriginalOptions OriginalsOf(const OriginalsByFamily& kept, const std::string& family,
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
