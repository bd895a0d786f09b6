// Opens a store of two column families with the exported functions, and prints the capacities of their block
// caches and whether they share one. Argument: the store's directory.

#include <rocksdb/db.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/util/rocksdb_compat.h"
#include "tuned.h"

int main(int, char** arguments) {
  rocksdb::DBOptions database;
  rocksdb::Status status = ApplyRocktuneDatabaseOptions(&database);
  database.create_if_missing = true;
  database.create_missing_column_families = true;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  std::vector<std::shared_ptr<rocksdb::Cache>> caches;
  for (const std::string name : {"default", "write"}) {
    rocksdb::ColumnFamilyOptions options;
    if (status.ok()) status = ApplyRocktuneOptions(name, &options);
    families.emplace_back(name, options);
    caches.push_back(options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_cache);
  }
  std::unique_ptr<rocksdb::DB> store;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  if (status.ok()) {
    status = rocktune::OpenColumnFamilies(database, arguments[1], families, &handles, &store);
  }
  if (!status.ok()) {
    std::cerr << status.ToString() << "\n";
    return 1;
  }
  std::cout << (caches[0] ? caches[0]->GetCapacity() : 0)
            << (caches[0] == caches[1] ? " shared\n" : " own\n");
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    store->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  return 0;
}
