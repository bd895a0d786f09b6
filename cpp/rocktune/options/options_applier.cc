#include "rocktune/options/options_applier.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "rocktune/governor/governed_options.h"
#include "rocktune/governor/original_options.h"
#include "rocktune/options/option_maps.h"
#include "rocktune/options/option_rules.h"
#include "rocktune/options/stall_triggers.h"
#include "rocktune/util/option_value.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

OptionsReport Refused(const std::string& reason) {
  OptionsReport report;
  report.outcome = OptionsOutcome::kRefused;
  report.reason = reason;
  return report;
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::vector<std::string> NamesOf(const OptionMaps& options) {
  std::vector<std::string> names;
  ForEachOption(options, [&](const OptionPlace& place, const std::string&) {
    names.push_back(place.Where() + " " + place.name);
  });
  return names;
}

// Returns `options` with the values that they have in `values`.
OptionMaps WithValuesOf(const OptionMaps& options, const OptionMaps& values) {
  OptionMaps result;
  ForEachOption(options, [&](const OptionPlace& place, const std::string&) {
    SectionOf(&result, place)[place.name] = *FindOption(values, place);
  });
  return result;
}

std::vector<OptionChange> ChangesOf(const OptionMaps& changes, const OptionMaps& before) {
  std::vector<OptionChange> made;
  ForEachOption(changes, [&](const OptionPlace& place, const std::string& value) {
    made.push_back({place.Where(), place.name, *FindOption(before, place), value});
  });
  return made;
}

}  // namespace

rocksdb::Status OptionsApplier::TakeOriginals() {
  originals_ = live_.Read();
  OriginalsByFamily governed;
  rocksdb::Status status = ReadOriginals(live_.db(), &governed);
  for (const auto& [name, family] : live_.families()) {
    if (IsGoverned(live_.db(), governed, family)) {
      for (const auto& [option, value] : ToChanges(governed.at(name).options)) {
        originals_.families[name].cf[option] = value;
      }
    }
  }
  return status;
}

OptionMaps OptionsApplier::Target(const WatchedFile& file) const {
  OptionMaps target = file.options;
  ForEachOption(wanted_, [&](const OptionPlace& place, const std::string&) {
    if (const std::string* original = FindOption(originals_, place); original != nullptr) {
      SectionOf(&target, place).emplace(place.name, *original);
    }
  });
  return target;
}

OptionsReport OptionsApplier::Apply(const std::string& text) {
  WatchedFile file;
  OptionsReport report;
  const rocksdb::Status parsed = ParseWatchedFile(text, &file);
  std::string id;
  if (!parsed.ok()) {
    report = Refused(OneLine(parsed.ToString()));
  } else if (!file.database_id.empty() && live_.db()->GetDbIdentity(id).ok() && id != file.database_id) {
    report = Refused("it is for the database with id " + file.database_id + ", and this one has id " + id);
  } else {
    const OptionMaps target = Target(file);
    const OptionMaps now = live_.Read();
    const OptionMaps changes = Differences(target, now);
    const std::string why_not = WhyNot(target, changes, now);
    report = why_not.empty() ? Change(target, now, changes) : Refused(OneLine(why_not));
    if (report.outcome == OptionsOutcome::kApplied || report.outcome == OptionsOutcome::kWaiting) {
      wanted_ = file.options;
    }
  }
  report.file_crc32 = file.crc32;
  return report;
}

OptionsReport OptionsApplier::ApplyWaiting() {
  const OptionMaps now = live_.Read();
  OptionsReport report = Change(waiting_, now, Differences(waiting_, now));
  if (report.outcome == OptionsOutcome::kRolledBack || report.outcome == OptionsOutcome::kRollbackFailed) {
    waiting_ = OptionMaps();  // or it would fail again at each look
  }
  return report;
}

std::string OptionsApplier::WhyNot(const OptionMaps& target, const OptionMaps& changes,
                                   const OptionMaps& now) const {
  std::string fault;
  const auto note = [&fault](const OptionPlace& place, const std::string& why) {
    if (fault.empty() && !why.empty()) {
      fault = place.Where() + " " + place.name + ": " + why;
    }
  };
  ForEachOption(target, [&](const OptionPlace& place, const std::string&) {
    if (place.section != "db" && !live_.families().contains(place.family)) {
      note(place, "the watcher has no such column family");
    } else if (FindOption(now, place) == nullptr && !IsByObject(place.section, place.name)) {
      note(place, "RocksDB " + RocksDbVersion() + " has no such option");
    }
  });
  ForEachOption(changes, [&](const OptionPlace& place, const std::string& value) {
    if (!fault.empty()) {
      return;
    }
    rocksdb::ColumnFamilyHandle* family = place.section == "db" ? nullptr : live_.families().at(place.family);
    note(place, live_.WhyNot(place.section, family, place.name, value));
    if (fault.empty() && !IsByObject(place.section, place.name)) {
      const std::string& before = *FindOption(now, place);
      const std::string why = live_.WhyNot(place.section, family, place.name, before);
      note(place, why.empty() ? "" : "its present value could not be restored: " + why);
    }
  });
  if (fault.empty()) {
    fault = live_.BrokenRuleWith(WithGovernedOriginals(changes));
  }
  return fault.empty() ? WhyNotOfCaches(target) : fault;
}

OptionMaps OptionsApplier::WithGovernedOriginals(OptionMaps changes) const {
  OriginalsByFamily governed;
  ReadOriginals(live_.db(), &governed).PermitUncheckedError();
  for (auto& [name, family] : changes.families) {
    if (IsGoverned(live_.db(), governed, live_.families().at(name))) {
      const OptionChanges originals = ToChanges(governed.at(name).options);
      family.cf.insert(originals.begin(), originals.end());
    }
  }
  return changes;
}

std::string OptionsApplier::WhyNotOfCaches(const OptionMaps& target) const {
  std::map<const void*, std::pair<std::string, std::string>> seen;  // family and value by cache
  for (const auto& [name, family] : target.families) {
    const auto found = family.table.find(kBlockCacheOption);
    if (found == family.table.end()) {
      continue;
    }
    const auto [first, added] =
        seen.try_emplace(live_.CacheOf(live_.families().at(name)).get(), name, found->second);
    if (!added && ParseOptionBytes(first->second.second) != ParseOptionBytes(found->second)) {
      return "column families '" + first->second.first + "' and '" + name +
             "' share a block cache; give it one capacity";
    }
  }
  return "";
}

OptionMaps OptionsApplier::TakeWaiting(OptionMaps* changes, std::string* reason) {
  OptionMaps waiting;
  OriginalsByFamily governed;
  // An unreadable file counts as a governor's absence: Attach and Recover report it.
  ReadOriginals(live_.db(), &governed).PermitUncheckedError();
  for (auto& [name, family] : changes->families) {
    rocksdb::ColumnFamilyHandle* handle = live_.families().at(name);
    const bool held =
        governed.contains(name) && (held_.contains(name) || IsGoverned(live_.db(), governed, handle));
    OptionMaps::Map taken = TakeHarmfulTriggers(live_, handle, held, &family.cf, reason);
    held_.erase(name);
    if (!taken.empty()) {
      waiting.families[name].cf = std::move(taken);
      if (held) {
        held_.insert(name);
      }
    }
  }
  return waiting;
}

OptionsReport OptionsApplier::Change(OptionMaps target, const OptionMaps& now, OptionMaps changes) {
  OptionsReport report;
  OptionMaps waiting = TakeWaiting(&changes, &report.reason);
  ForEachOption(waiting, [&](const OptionPlace& place, const std::string&) {
    SectionOf(&target, place).erase(place.name);
  });
  rocksdb::Status status = live_.Set(changes);
  if (status.ok()) {
    const OptionMaps reverted = Differences(target, live_.Read());
    if (const std::vector<std::string> names = NamesOf(reverted); !names.empty()) {
      status = rocksdb::Status::Aborted(names.front() + " was set and has another value now");
    }
  }
  if (status.ok()) {
    report.outcome = report.reason.empty() ? OptionsOutcome::kApplied : OptionsOutcome::kWaiting;
    report.changes = ChangesOf(changes, now);
    report.waiting = NamesOf(waiting);
    waiting_ = std::move(waiting);
    return report;
  }
  const OptionMaps before = WithValuesOf(changes, now);
  const rocksdb::Status restored = live_.Set(Differences(before, live_.Read()));
  const bool complete = restored.ok() && NamesOf(Differences(before, live_.Read())).empty();
  report.outcome = complete ? OptionsOutcome::kRolledBack : OptionsOutcome::kRollbackFailed;
  report.reason = OneLine(status.ToString() + (complete ? "" : "; restoring: " + restored.ToString()));
  return report;
}

}  // namespace rocktune
