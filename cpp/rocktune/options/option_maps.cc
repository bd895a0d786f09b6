#include "rocktune/options/option_maps.h"

#include "rocktune/util/option_value.h"

namespace rocktune {

void ForEachOption(const OptionMaps& maps,
                   const std::function<void(const OptionPlace&, const std::string& value)>& visit) {
  const auto visit_all = [&](const OptionMaps::Map& options, const char* section, const std::string& family) {
    for (const auto& [name, value] : options) {
      visit({section, family, name}, value);
    }
  };
  visit_all(maps.db, "db", "");
  for (const auto& [name, family] : maps.families) {
    visit_all(family.cf, "cf", name);
    visit_all(family.table, "table", name);
  }
}

const std::string* FindOption(const OptionMaps& maps, const OptionPlace& place) {
  const OptionMaps::Map* section = &maps.db;
  if (place.section != "db") {
    const auto family = maps.families.find(place.family);
    if (family == maps.families.end()) {
      return nullptr;
    }
    section = place.section == "cf" ? &family->second.cf : &family->second.table;
  }
  const auto found = section->find(place.name);
  return found == section->end() ? nullptr : &found->second;
}

OptionMaps::Map& SectionOf(OptionMaps* maps, const OptionPlace& place) {
  if (place.section == "db") {
    return maps->db;
  }
  OptionMaps::Family& family = maps->families[place.family];
  return place.section == "cf" ? family.cf : family.table;
}

OptionMaps Differences(const OptionMaps& wanted, const OptionMaps& now) {
  OptionMaps differences;
  ForEachOption(wanted, [&](const OptionPlace& place, const std::string& value) {
    const std::string* present = FindOption(now, place);
    if (present == nullptr || !SameOptionValue(value, *present)) {
      SectionOf(&differences, place)[place.name] = value;
    }
  });
  return differences;
}

}  // namespace rocktune
