#include "worker/tables_command.h"

#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <memory>

#include "rocktune/runner/run_error.h"

namespace rocktune {
namespace {

constexpr const char* kSuffix = ".sst";
// Before RocksDB 5 tables did not name their family.
constexpr const char* kUnnamed = "default";

rocksdb::Options ReaderOptions() {
  rocksdb::Options options;
  rocksdb::BlockBasedTableOptions table;
  // Otherwise a reader loads index and filter of every table, which are most of what would be read.
  table.cache_index_and_filter_blocks = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

std::vector<std::string> TablesIn(const std::string& directory) {
  std::vector<std::string> names;
  const rocksdb::Status status = rocksdb::Env::Default()->GetChildren(directory, &names);
  if (!status.ok()) {
    throw RunError(RunFailure::kInvalid, directory + " cannot be listed: " + status.ToString());
  }
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(kSuffix); });
  std::sort(names.begin(), names.end());
  for (std::string& name : names) {
    name.insert(0, directory + "/");
  }
  return names;
}

void Add(const rocksdb::TableProperties& properties, uint64_t file_bytes, StoreTables* tables) {
  const std::string& name = properties.column_family_name;
  FamilyTables& family = tables->families[name.empty() ? kUnnamed : name];
  family.id = properties.column_family_id;
  ++family.tables;
  family.file_bytes += file_bytes;
  family.entries += properties.num_entries;
  family.deletions += properties.num_deletions;
  family.merge_operands += properties.num_merge_operands;
  family.range_deletions += properties.num_range_deletions;
  family.raw_key_bytes += properties.raw_key_size;
  family.raw_value_bytes += properties.raw_value_size;
  family.data_bytes += properties.data_size;
  family.compressions.insert(properties.compression_name);
  family.comparators.insert(properties.comparator_name);
}

void ReadTable(const std::string& path, const rocksdb::Options& options, StoreTables* tables) {
  rocksdb::Env* env = rocksdb::Env::Default();
  uint64_t file_bytes = 0;
  rocksdb::SstFileReader reader(options);
  rocksdb::Status status = env->GetFileSize(path, &file_bytes);
  if (status.ok()) {
    status = reader.Open(path);
  }
  if (status.ok()) {
    Add(*reader.GetTableProperties(), file_bytes, tables);
  } else if (env->FileExists(path).ok()) {  // else a compaction of the running database removed it
    if (tables->unread_tables++ == 0) {
      tables->unread_example = path + ": " + status.ToString();
    }
  }
}

}  // namespace

StoreTables ReadTables(const std::vector<std::string>& directories, const Progress& progress) {
  std::vector<std::string> paths;
  for (const std::string& directory : directories) {
    const std::vector<std::string> found = TablesIn(directory);
    paths.insert(paths.end(), found.begin(), found.end());
  }
  const rocksdb::Options options = ReaderOptions();
  StoreTables tables;
  for (std::size_t done = 0; done < paths.size(); ++done) {
    if (done % 100 == 0) {
      progress("tables", static_cast<double>(done), static_cast<double>(paths.size()));
    }
    ReadTable(paths[done], options, &tables);
  }
  return tables;
}

nlohmann::json ToJson(const StoreTables& tables) {
  nlohmann::json families = nlohmann::json::array();
  for (const auto& [name, family] : tables.families) {
    families.push_back({{"name", name},
                        {"id", family.id},
                        {"tables", family.tables},
                        {"file_bytes", family.file_bytes},
                        {"entries", family.entries},
                        {"deletions", family.deletions},
                        {"merge_operands", family.merge_operands},
                        {"range_deletions", family.range_deletions},
                        {"raw_key_bytes", family.raw_key_bytes},
                        {"raw_value_bytes", family.raw_value_bytes},
                        {"data_bytes", family.data_bytes},
                        {"compressions", family.compressions},
                        {"comparators", family.comparators}});
  }
  return {{"event", "tables"},
          {"families", families},
          {"unread_tables", tables.unread_tables},
          {"unread_example", tables.unread_example}};
}

}  // namespace rocktune
