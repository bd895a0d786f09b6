#include "rocktune/runner/options_file.h"

#include <rocksdb/options.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "rocktune/runner/block_cache.h"
#include "rocktune/runner/run_error.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// A section's heading, such as `CFOptions "default"`, and its options.
struct Section {
  std::string heading;
  OptionMaps::Map options;
};

// Returns the quoted name in `CFOptions "default"`; nullopt for other sections.
std::optional<std::string> FamilyName(const Section& section) {
  const std::string_view prefix = "CFOptions ";
  if (!section.heading.starts_with(prefix)) {
    return std::nullopt;
  }
  return section.heading.substr(prefix.size());
}

// Returns a line without surrounding space and without a comment, which begins with '#'. A backslash escapes
// the next character.
std::string WithoutComment(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size() && line[i] != '#'; ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) {
      ++i;
    }
    text += line[i];
  }
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

class Reader {
 public:
  Reader(const std::string& path, ForeignObjects foreign) : path_(path), foreign_(foreign) {}

  OptionsFile Read();

 private:
  RunError Invalid(const std::string& problem) const {
    return RunError(RunFailure::kInvalid, "options file " + path_ + ": " + problem);
  }

  std::string Text() const;
  void ReadSections();
  void AddLine(std::string_view line, std::size_t number);
  // Returns the section with this heading, or nullptr.
  const Section* Find(const std::string& heading) const;
  void CheckComplete() const;
  // Refuses, or removes, comparators and merge operators that the linked RocksDB does not have.
  void CheckComparatorsAndMergeOperators(std::set<std::string>* ignored);
  // Returns `options`, of another version, without those that the linked RocksDB ignores; adds their names to
  // `*ignored`.
  static OptionMaps::Map Heeded(OptionMaps::Map options, const OptionMaps::Map& known,
                                std::set<std::string>* ignored);
  // Returns the options of the column family of a [CFOptions "..."] section.
  OptionMaps Family(const Section& section, bool same_version, std::set<std::string>* ignored) const;

  const std::string path_;
  const ForeignObjects foreign_;
  std::vector<Section> sections_;
};

std::string Reader::Text() const {
  std::ifstream file(path_, std::ios::binary);
  if (!file) {
    throw Invalid("it cannot be opened");
  }
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad() || text.empty()) {
    throw Invalid(text.empty() ? "it is empty or no file" : "it cannot be read");
  }
  const auto binary = [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t';
  };
  if (std::any_of(text.begin(), text.end(), binary)) {
    throw Invalid("it is binary, no OPTIONS file");
  }
  if (text.back() != '\n') {
    throw Invalid("it is cut off in its last line");
  }
  return text;
}

void Reader::ReadSections() {
  const std::string text = Text();
  std::size_t number = 0;
  std::string_view line;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    line = std::string_view(text).substr(begin, end - begin);
    AddLine(line, ++number);
    begin = end + 1;
  }
  // RocksDB writes an empty line after each section, so a file of its own that lacks it at the end is cut
  // off. Files of people need not have it.
  if (text.starts_with("# This is a RocksDB option file") && !WithoutComment(line).empty()) {
    throw Invalid("it is cut off behind line " + std::to_string(number) +
                  "; RocksDB ends it with an empty line");
  }
}

void Reader::AddLine(std::string_view raw, std::size_t number) {
  const std::string line = WithoutComment(raw);
  if (line.empty()) {
    return;
  }
  if (line.front() == '[' && line.back() == ']') {
    std::string heading = line.substr(1, line.size() - 2);
    if (Find(heading) != nullptr) {
      throw Invalid("it has section [" + heading + "] twice");
    }
    sections_.push_back({std::move(heading), {}});
    return;
  }
  const std::size_t equals = line.find('=');
  if (equals == std::string::npos || sections_.empty()) {
    throw Invalid("line " + std::to_string(number) + " is neither a section nor an option");
  }
  sections_.back().options[line.substr(0, equals)] = line.substr(equals + 1);
}

const Section* Reader::Find(const std::string& heading) const {
  const auto section = std::find_if(sections_.begin(), sections_.end(),
                                    [&](const Section& candidate) { return candidate.heading == heading; });
  return section == sections_.end() ? nullptr : &*section;
}

void Reader::CheckComplete() const {
  for (const std::string required : {"Version", "DBOptions", "CFOptions \"default\""}) {
    if (Find(required) == nullptr) {
      throw Invalid("it has no section [" + required + "]; it is cut off or no OPTIONS file");
    }
  }
  // RocksDB writes the table options after each column family's, so a family without them is where the file
  // is cut off.
  for (const Section& section : sections_) {
    if (const std::optional<std::string> name = FamilyName(section)) {
      const std::string end = " " + *name;
      const auto table_of_it = [&](const Section& candidate) {
        return candidate.heading.starts_with("TableOptions/") && candidate.heading.ends_with(end);
      };
      if (std::none_of(sections_.begin(), sections_.end(), table_of_it)) {
        throw Invalid("it has no section [TableOptions/BlockBasedTable" + end + "]; it is cut off");
      }
    }
  }
}

void Reader::CheckComparatorsAndMergeOperators(std::set<std::string>* ignored) {
  for (Section& section : sections_) {
    for (const std::string name : {"comparator", "merge_operator"}) {
      const auto option = section.options.find(name);
      if (option == section.options.end()) {
        continue;
      }
      rocksdb::ColumnFamilyOptions family;
      const rocksdb::Status status = rocksdb::GetColumnFamilyOptionsFromMap(
          StrictConfigOptions(), rocksdb::ColumnFamilyOptions(), {{name, option->second}}, &family);
      if (status.ok()) {
        continue;
      }
      if (foreign_ == ForeignObjects::kRefuse) {
        throw Invalid(
            "[" + section.heading + "] has the " +
            (name == "comparator" ? "comparator '" : "merge operator '") + option->second +
            "', which only its own application has; measure that application with engine 'command'");
      }
      section.options.erase(option);
      ignored->insert(name);
    }
  }
}

OptionMaps::Map Reader::Heeded(OptionMaps::Map options, const OptionMaps::Map& known,
                               std::set<std::string>* ignored) {
  std::erase_if(options, [&](const auto& option) {
    const bool unknown = !known.contains(option.first);
    if (unknown) {
      ignored->insert(option.first);
    }
    return unknown;
  });
  return options;
}

OptionMaps Reader::Family(const Section& section, bool same_version, std::set<std::string>* ignored) const {
  const Section* table = Find("TableOptions/BlockBasedTable " + *FamilyName(section));
  OptionMaps given{Find("DBOptions")->options, section.options,
                   table == nullptr ? OptionMaps::Map() : table->options};
  // Listeners are objects of the application that do not change how a store works.
  if (given.db.erase("listeners") != 0) {
    ignored->insert("listeners");
  }
  if (!same_version) {
    const rocksdb::Options defaults;
    const OptionMaps known = MapsFromOptions(defaults, defaults);
    given.db = Heeded(given.db, known.db, ignored);
    given.cf = Heeded(given.cf, known.cf, ignored);
    given.table = Heeded(given.table, known.table, ignored);
  }
  try {
    const rocksdb::Options options = OptionsFromMaps(given);
    OptionMaps read = MapsFromOptions(options, options);
    // The cache that was read back does not say which settings were given and which follow from the capacity,
    // so the file's own text is kept.
    read.table.erase("block_cache");
    if (const auto cache = given.table.find("block_cache");
        cache != given.table.end() && MakeBlockCache(cache->second) != nullptr) {
      read.table.insert(*cache);
    }
    return read;
  } catch (const RunError& error) {
    throw Invalid("[" + section.heading + "]: " + error.what());
  }
}

OptionsFile Reader::Read() {
  ReadSections();
  CheckComplete();
  std::set<std::string> ignored;
  CheckComparatorsAndMergeOperators(&ignored);
  OptionsFile file;
  const OptionMaps::Map& version = Find("Version")->options;
  if (const auto found = version.find("rocksdb_version"); found != version.end()) {
    file.rocksdb_version = found->second;
  }
  for (const Section& section : sections_) {
    if (const std::optional<std::string> name = FamilyName(section)) {
      file.column_families.emplace_back(name->substr(1, name->size() - 2),
                                        Family(section, file.rocksdb_version == RocksDbVersion(), &ignored));
    }
  }
  file.ignored.assign(ignored.begin(), ignored.end());
  return file;
}

}  // namespace

OptionsFile ReadOptionsFile(const std::string& path, ForeignObjects foreign) {
  return Reader(path, foreign).Read();
}

}  // namespace rocktune
