// Opens one store with the exported OPTIONS file, and one with the exported function, and prints the sizes of
// their block caches. Arguments: the OPTIONS file, the two stores' directories.

#include <rocksdb/db.h>
#include <rocksdb/utilities/options_util.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/util/rocksdb_compat.h"
#include "tuned.h"

namespace {

rocksdb::Status Open(rocksdb::Options options, const std::string& directory) {
  options.create_if_missing = true;
  std::unique_ptr<rocksdb::DB> store;
  rocksdb::Status status = rocktune::OpenDatabase(options, directory, &store);
  if (status.ok()) {
    status = store->Put(rocksdb::WriteOptions(), "key", "value");
    std::string capacity;
    store->GetProperty("rocksdb.block-cache-capacity", &capacity);
    std::cout << capacity << "\n";
  }
  return status;
}

rocksdb::Status FromFile(const std::string& file, rocksdb::Options* options) {
  rocksdb::DBOptions database;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = false;
  const rocksdb::Status status = rocksdb::LoadOptionsFromFile(config, file, &database, &families);
  if (status.ok()) *options = rocksdb::Options(database, families.at(0).options);
  return status;
}

}  // namespace

int main(int, char** arguments) {
  rocksdb::Options from_file;
  rocksdb::Options from_function;
  for (const rocksdb::Status& status :
       {FromFile(arguments[1], &from_file), Open(from_file, arguments[2]),
        ApplyRocktuneOptions(&from_function), Open(from_function, arguments[3])}) {
    if (!status.ok()) {
      std::cerr << status.ToString() << "\n";
      return 1;
    }
  }
  return 0;
}
