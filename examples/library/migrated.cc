// Makes an FLSM store of a RocksDB database, and a stock database of the store. The database in SOURCE stays
// as it is; if it does not exist, a small one is made. Run it again after a kill: it goes on where it was.
//
//   ./migrated SOURCE STORE STOCK

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "open_database.h"
#include "rocktune/flsm_migration.h"
#include "rocktune/flsm_store.h"

namespace {

constexpr int kKeys = 50'000;
constexpr std::uint64_t kDeviceBytesPerSecond = 400'000'000;  // for the estimate of the time

// Prints the status and ends the program if it is not OK.
void Require(const rocksdb::Status& status, const std::string& what) {
  if (!status.ok()) {
    std::cerr << what << ": " << status.ToString() << "\n";
    std::exit(1);
  }
}

void MakeDatabase(const rocksdb::Options& options, const std::string& path) {
  std::unique_ptr<rocksdb::DB> db;
  Require(OpenDatabase(options, path, &db), "open source");
  for (int key = 0; key < kKeys; ++key) {
    Require(db->Put({}, "key" + std::to_string(key * 7919 % kKeys), std::string(200, 'v')), "put");
  }
  Require(db->Close(), "close source");
}

void Print(const char* what, const rocktune::MigrationCost& cost) {
  std::cout << what << ": " << cost.bytes << " bytes, " << cost.rewritten_bytes
            << " of them rewritten, about " << cost.Seconds(kDeviceBytesPerSecond) << " s" << std::endl;
}

// Returns the number of entries.
int Count(rocksdb::DB* db) {
  const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(rocksdb::ReadOptions()));
  int count = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ++count;
  }
  Require(iterator->status(), "iterate");
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: " << argv[0] << " SOURCE STORE STOCK\n";
    return 2;
  }
  const std::string source = argv[1];
  const std::string store_path = argv[2];
  const std::string stock = argv[3];
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 1 << 20;  // small, so that the example has several levels
  options.target_file_size_base = 1 << 20;
  if (!std::filesystem::exists(source)) {
    MakeDatabase(options, source);
  }

  rocktune::FlsmOptions layout;
  layout.policies = {4, 2, 1};
  rocktune::MigrationCost cost;
  Require(rocktune::CostOfMigrationToFlsm(options, layout, source, &cost), "cost");
  Print("into an FLSM store", cost);
  Require(rocktune::MigrateToFlsm(options, layout, source, store_path), "migrate to FLSM");
  {
    std::unique_ptr<rocktune::FlsmStore> store;
    Require(rocktune::FlsmStore::Open(options, {}, store_path, &store), "open store");
    std::cout << Count(store.get()) << " entries in " << rocktune::ToText(store->Shape()) << std::endl;
    Require(store->Close(), "close store");
  }

  Require(rocktune::CostOfMigrationToStock(options, store_path, &cost), "cost");
  Print("back to stock", cost);
  Require(rocktune::MigrateToStock(options, store_path, stock), "migrate to stock");
  std::unique_ptr<rocksdb::DB> db;
  Require(OpenDatabase(options, stock, &db), "open stock");
  std::cout << Count(db.get()) << " entries in " << db->NumberLevels() << " levels" << std::endl;
  Require(db->Close(), "close stock");
  return 0;
}
