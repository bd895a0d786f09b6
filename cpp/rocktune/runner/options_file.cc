#include "rocktune/runner/options_file.h"

#include <rocksdb/options.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "rocktune/runner/run_error.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// A section's heading, such as `CFOptions "default"`, and its options.
struct Section {
  std::string heading;
  OptionMaps::Map options;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  OptionsFile Read();

 private:
  RunError Invalid(const std::string& problem) const {
    return RunError(RunFailure::kInvalid, "options file " + path_ + ": " + problem);
  }

  std::string Text() const;
  void ReadSections();
  void AddLine(std::string_view line, std::size_t number);
  void CheckComplete() const;
  // Empty maps where the file has no such section.
  const OptionMaps::Map& Options(const std::string& heading) const;
  void CheckComparatorsAndMergeOperators() const;
  void Load(std::vector<rocksdb::ColumnFamilyDescriptor>* families, rocksdb::DBOptions* db,
            OptionsFile* file);
  // Removes from the sections what RocksDB does not read back, and notes it.
  void DropUnread(const std::string& heading, const OptionMaps::Map& read, std::set<std::string>* ignored);

  const std::string path_;
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
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    AddLine(std::string_view(text).substr(begin, end - begin), ++number);
    begin = end + 1;
  }
}

void Reader::AddLine(std::string_view line, std::size_t number) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && space(line.front())) {
    line.remove_prefix(1);
  }
  line = line.substr(0, line.find('#'));
  while (!line.empty() && space(line.back())) {
    line.remove_suffix(1);
  }
  if (line.empty()) {
    return;
  }
  if (line.front() == '[' && line.back() == ']') {
    sections_.push_back({std::string(line.substr(1, line.size() - 2)), {}});
    return;
  }
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos || sections_.empty()) {
    throw Invalid("line " + std::to_string(number) + " is neither a section nor an option");
  }
  sections_.back().options[std::string(line.substr(0, equals))] = std::string(line.substr(equals + 1));
}

const OptionMaps::Map& Reader::Options(const std::string& heading) const {
  static const OptionMaps::Map none;
  const auto section = std::find_if(sections_.begin(), sections_.end(),
                                    [&](const Section& candidate) { return candidate.heading == heading; });
  return section == sections_.end() ? none : section->options;
}

void Reader::CheckComplete() const {
  std::set<std::string> headings;
  for (const Section& section : sections_) {
    headings.insert(section.heading);
  }
  for (const std::string required : {"Version", "DBOptions", "CFOptions \"default\""}) {
    if (!headings.contains(required)) {
      throw Invalid("it has no section [" + required + "]; it is cut off or no OPTIONS file");
    }
  }
  // RocksDB writes each column family's table options behind it, so one without them is where the file was
  // cut.
  for (const Section& section : sections_) {
    const std::string prefix = "CFOptions ";
    const auto factory = section.options.find("table_factory");
    if (section.heading.starts_with(prefix) && factory != section.options.end()) {
      const std::string table =
          "TableOptions/" + factory->second + " " + section.heading.substr(prefix.size());
      if (!headings.contains(table)) {
        throw Invalid("it has no section [" + table + "]; it is cut off");
      }
    }
  }
}

void Reader::CheckComparatorsAndMergeOperators() const {
  for (const Section& section : sections_) {
    for (const std::string name : {"comparator", "merge_operator"}) {
      const auto option = section.options.find(name);
      if (option == section.options.end()) {
        continue;
      }
      rocksdb::ColumnFamilyOptions family;
      const rocksdb::Status status = rocksdb::GetColumnFamilyOptionsFromMap(
          StrictConfigOptions(), rocksdb::ColumnFamilyOptions(), {{name, option->second}}, &family);
      if (!status.ok()) {
        throw Invalid(
            "[" + section.heading + "] has the " +
            (name == "comparator" ? "comparator '" : "merge operator '") + option->second +
            "', which only its own application has; measure such a store with the 'command' engine");
      }
    }
  }
}

void Reader::DropUnread(const std::string& heading, const OptionMaps::Map& read,
                        std::set<std::string>* ignored) {
  for (Section& section : sections_) {
    if (section.heading != heading) {
      continue;
    }
    std::erase_if(section.options, [&](const auto& option) {
      const bool unread = !read.contains(option.first);
      if (unread) {
        ignored->insert(option.first);
      }
      return unread;
    });
  }
}

void Reader::Load(std::vector<rocksdb::ColumnFamilyDescriptor>* families, rocksdb::DBOptions* db,
                  OptionsFile* file) {
  rocksdb::ConfigOptions config = StrictConfigOptions();
  config.input_strings_escaped = true;  // as RocksDB writes its files
  // A file of another version may have options that came or went; what is left out is reported.
  config.ignore_unknown_options = file->rocksdb_version != RocksDbVersion();
  const rocksdb::Status status = rocksdb::LoadOptionsFromFile(config, path_, db, families);
  if (!status.ok()) {
    throw Invalid("RocksDB " + RocksDbVersion() + " refuses it: " + status.ToString());
  }
}

OptionsFile Reader::Read() {
  ReadSections();
  CheckComplete();
  CheckComparatorsAndMergeOperators();
  OptionsFile file;
  const OptionMaps::Map& version = Options("Version");
  if (const auto found = version.find("rocksdb_version"); found != version.end()) {
    file.rocksdb_version = found->second;
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  rocksdb::DBOptions db;
  Load(&families, &db, &file);
  std::set<std::string> ignored;
  for (const rocksdb::ColumnFamilyDescriptor& family : families) {
    OptionMaps maps = MapsFromOptions(db, family.options);
    maps.table.erase("block_cache");
    const std::string cf_heading = "CFOptions \"" + family.name + "\"";
    const std::string table_heading = "TableOptions/BlockBasedTable \"" + family.name + "\"";
    if (file.rocksdb_version != RocksDbVersion()) {
      DropUnread("DBOptions", maps.db, &ignored);
      DropUnread(cf_heading, maps.cf, &ignored);
      DropUnread(table_heading, maps.table, &ignored);
    }
    try {
      CheckReadBack("db", Options("DBOptions"), maps.db);
      CheckReadBack("cf", Options(cf_heading), maps.cf);
      CheckReadBack("table", Options(table_heading), maps.table);
    } catch (const RunError& error) {
      throw Invalid(error.what());
    }
    file.column_families.emplace_back(family.name, std::move(maps));
  }
  file.ignored.assign(ignored.begin(), ignored.end());
  return file;
}

}  // namespace

OptionsFile ReadOptionsFile(const std::string& path) { return Reader(path).Read(); }

}  // namespace rocktune
