#include "rocktune/options/live_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/table.h>
#include <rocksdb/write_buffer_manager.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>

#include "rocktune/governor/governed_rate_limiter.h"
#include "rocktune/options/option_rules.h"
#include "rocktune/util/option_value.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr const char* kTableFactory = "block_based_table_factory";

using Changes = std::unordered_map<std::string, std::string>;

bool IsLimited(const rocksdb::WriteBufferManager* buffers) {
  return buffers != nullptr && buffers->enabled();
}

// Returns the changes of a column family in SetOptions' form.
Changes FamilyChanges(const OptionMaps::Family& family) {
  Changes changes(family.cf.begin(), family.cf.end());
  std::string table;
  for (const auto& [name, value] : family.table) {
    if (!IsByObject("table", name)) {
      table.append(name).append("=").append(value).append(";");
    }
  }
  if (!table.empty()) {
    changes[kTableFactory] = "{" + table + "}";
  }
  return changes;
}

// Returns why RocksDB would not read an option's value as meant, or "". `serialized` is what it makes of it.
std::string WhyMisread(const rocksdb::Status& parsed, const std::string& serialized, const std::string& name,
                       const std::string& value) {
  std::unordered_map<std::string, std::string> read;
  if (!parsed.ok()) {
    return parsed.ToString();
  }
  if (!rocksdb::StringToMap(serialized, &read).ok() || !read.contains(name)) {
    return "RocksDB ignores it";
  }
  return SameOptionValue(value, read[name]) ? "" : "RocksDB reads it as '" + read[name] + "'";
}

std::string NamesOf(const Changes& changes) {
  std::string names;
  for (const auto& [name, value] : changes) {
    names.append(names.empty() ? "" : ", ").append(name).append("=").append(value);
  }
  return names;
}

rocksdb::Status Named(const rocksdb::Status& status, const std::string& where, const Changes& changes) {
  return status.ok()
             ? status
             : rocksdb::Status::Aborted("RocksDB refuses " + where + NamesOf(changes), status.ToString());
}

}  // namespace

bool IsByObject(const std::string& section, const std::string& name) {
  return section == "table" ? name == kBlockCacheOption
                            : section == "db" && (name == kRateLimiterOption || name == kWriteBuffersOption);
}

LiveOptions::LiveOptions(rocksdb::DB* db, const std::vector<Family*>& families) : db_(db) {
  for (Family* each : families) {
    families_[each->GetName()] = each;
  }
  if (families_.empty()) {
    families_[db->DefaultColumnFamily()->GetName()] = db->DefaultColumnFamily();
  }
}

OptionMaps LiveOptions::Read() const {
  OptionMaps read;
  const rocksdb::DBOptions db_options = db_->GetDBOptions();
  for (const auto& [name, handle] : families_) {
    const rocksdb::Options options = db_->GetOptions(handle);
    OptionMaps maps = MapsFromOptions(db_options, options);
    const std::shared_ptr<rocksdb::Cache> cache = CacheOf(handle);
    maps.table[kBlockCacheOption] = cache != nullptr ? std::to_string(cache->GetCapacity()) : "0";
    read.families[name] = {maps.cf, maps.table};
    read.db = maps.db;
  }
  const rocksdb::WriteBufferManager* buffers = db_options.write_buffer_manager.get();
  read.db[kWriteBuffersOption] = IsLimited(buffers) ? std::to_string(buffers->buffer_size()) : "0";
  return read;
}

std::string LiveOptions::WhyNotByObject(Family* family, const std::string& name,
                                        const std::string& value) const {
  const std::optional<uint64_t> bytes = ParseOptionBytes(value);
  if (!bytes || *bytes == 0 || *bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return "its value must be a number of bytes above 0";
  }
  const rocksdb::DBOptions options = db_->GetDBOptions();
  if (name == kBlockCacheOption) {
    return CacheOf(family) != nullptr ? "" : "the column family was opened without one";
  }
  if (name == kWriteBuffersOption) {
    return IsLimited(options.write_buffer_manager.get()) ? "" : "the database was opened without it";
  }
  if (options.rate_limiter == nullptr) {
    return "the database was opened without a rate limiter";
  }
  return dynamic_cast<const GovernedRateLimiter*>(options.rate_limiter.get()) == nullptr
             ? ""
             : "the CompactionGovernor is the rate limiter";
}

std::string LiveOptions::WhyNot(const std::string& section, Family* family, const std::string& name,
                                const std::string& value) const {
  if (IsByObject(section, name)) {
    return WhyNotByObject(family, name, value);
  }
  const std::set<std::string>& names =
      section == "db" ? mutable_.db : (section == "cf" ? mutable_.cf : mutable_.table);
  if (!names.contains(name)) {
    return "it cannot be changed while the database is open";
  }
  const rocksdb::ConfigOptions config = StrictConfigOptions();
  std::string text;
  rocksdb::Status status;
  if (section == "db") {
    rocksdb::DBOptions parsed;
    status = rocksdb::GetDBOptionsFromMap(config, db_->GetDBOptions(), {{name, value}}, &parsed);
    rocksdb::GetStringFromDBOptions(config, parsed, &text).PermitUncheckedError();
  } else if (section == "cf") {
    rocksdb::ColumnFamilyOptions parsed;
    status = With(family, {{name, value}}, &parsed);
    rocksdb::GetStringFromColumnFamilyOptions(config, parsed, &text).PermitUncheckedError();
  } else {
    const rocksdb::Options options = db_->GetOptions(family);
    const auto* table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    rocksdb::BlockBasedTableOptions parsed;
    status = rocksdb::GetBlockBasedTableOptionsFromMap(config, *table, {{name, value}}, &parsed);
    const std::unique_ptr<rocksdb::TableFactory> factory(rocksdb::NewBlockBasedTableFactory(parsed));
    factory->GetOptionString(config, &text).PermitUncheckedError();
  }
  return WhyMisread(status, text, name, value);
}

rocksdb::Status LiveOptions::With(Family* family, const OptionMaps::Map& changes,
                                  rocksdb::ColumnFamilyOptions* result) const {
  return rocksdb::GetColumnFamilyOptionsFromMap(StrictConfigOptions(), db_->GetOptions(family),
                                                {changes.begin(), changes.end()}, result);
}

std::string LiveOptions::BrokenRuleWith(const OptionMaps& changes) const {
  rocksdb::DBOptions db;
  OptionMaps::Map db_changes = changes.db;
  db_changes.erase(kRateLimiterOption);
  db_changes.erase(kWriteBuffersOption);
  rocksdb::Status status = rocksdb::GetDBOptionsFromMap(StrictConfigOptions(), db_->GetDBOptions(),
                                                        {db_changes.begin(), db_changes.end()}, &db);
  std::string broken = status.ok() ? BrokenRule(db) : status.ToString();
  for (const auto& [name, family] : changes.families) {
    rocksdb::ColumnFamilyOptions options;
    status = With(families_.at(name), family.cf, &options);
    const std::string rule = status.ok() ? BrokenRule(options) : status.ToString();
    if (broken.empty() && !rule.empty()) {
      broken.append("column family '").append(name).append("': ").append(rule);
    }
  }
  return broken;
}

std::shared_ptr<rocksdb::Cache> LiveOptions::CacheOf(Family* family) const {
  const rocksdb::Options options = db_->GetOptions(family);
  const auto* table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  return table != nullptr ? table->block_cache : nullptr;
}

void LiveOptions::SetObjects(const OptionMaps& changes, bool shrinking) {
  const rocksdb::DBOptions options = db_->GetDBOptions();
  for (const auto& [name, family] : changes.families) {
    if (const auto found = family.table.find(kBlockCacheOption); found != family.table.end()) {
      const std::shared_ptr<rocksdb::Cache> cache = CacheOf(families_.at(name));
      const std::size_t bytes = ParseOptionBytes(found->second).value();
      if ((bytes < cache->GetCapacity()) == shrinking) {
        cache->SetCapacity(bytes);
      }
    }
  }
  if (const auto found = changes.db.find(kWriteBuffersOption); found != changes.db.end()) {
    const std::size_t bytes = ParseOptionBytes(found->second).value();
    if ((bytes < options.write_buffer_manager->buffer_size()) == shrinking) {
      options.write_buffer_manager->SetBufferSize(bytes);
    }
  }
  if (const auto found = changes.db.find(kRateLimiterOption); found != changes.db.end() && !shrinking) {
    options.rate_limiter->SetBytesPerSecond(static_cast<int64_t>(ParseOptionBytes(found->second).value()));
  }
}

rocksdb::Status LiveOptions::Set(const OptionMaps& changes) {
  SetObjects(changes, true);
  Changes db;
  for (const auto& [name, value] : changes.db) {
    if (!IsByObject("db", name)) {
      db[name] = value;
    }
  }
  rocksdb::Status status = db.empty() ? rocksdb::Status::OK() : Named(db_->SetDBOptions(db), "", db);
  for (const auto& [name, family] : changes.families) {
    const Changes cf = FamilyChanges(family);
    if (status.ok() && !cf.empty()) {
      status = Named(db_->SetOptions(families_.at(name), cf), "column family '" + name + "': ", cf);
    }
  }
  if (status.ok()) {
    SetObjects(changes, false);
  }
  return status;
}

}  // namespace rocktune
