#pragma once

#include <functional>
#include <string>

#include "rocktune/runner/rocksdb_options.h"

namespace rocktune {

// One option of the `db` and `families` of an OptionMaps.
struct OptionPlace {
  std::string section;  // "db", "cf" or "table"
  std::string family;   // "" in "db"
  std::string name;

  // Returns "db", "cf FAMILY" or "table FAMILY".
  std::string Where() const { return section == "db" ? section : section + " " + family; }
};

// Calls `visit` with each option of `maps`.
void ForEachOption(const OptionMaps& maps,
                   const std::function<void(const OptionPlace&, const std::string& value)>& visit);

// Returns the value at a place, or null if `maps` lacks it.
const std::string* FindOption(const OptionMaps& maps, const OptionPlace& place);

// Returns the place's section of `maps`, which is made if it is missing.
OptionMaps::Map& SectionOf(OptionMaps* maps, const OptionPlace& place);

// Returns the options of `wanted` whose value in `now` is missing or another one (SameOptionValue).
OptionMaps Differences(const OptionMaps& wanted, const OptionMaps& now);

}  // namespace rocktune
