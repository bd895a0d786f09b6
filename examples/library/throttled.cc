// Fills a store on a device of 100 MB/s and prints how many bytes crossed the device, by cause.
//
//   ./throttled DIRECTORY

#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <cstdio>
#include <memory>
#include <string>

#include "open_database.h"
#include "rocktune/throttled_file_system.h"

namespace {

// Writes 2 MB, flushes them as two overlapping tables, and compacts these.
rocksdb::Status Fill(rocksdb::DB* db) {
  const std::string value(1000, 'v');
  for (int number = 0; number < 2000; ++number) {
    rocksdb::Status status = db->Put({}, "key" + std::to_string(number % 1000), value);
    if (status.ok() && number % 1000 == 999) status = db->Flush({});
    if (!status.ok()) return status;
  }
  return db->CompactRange({}, nullptr, nullptr);
}

rocksdb::Status Run(const std::string& directory) {
  rocktune::DeviceSpec device;
  device.bandwidth_bytes_s = 100'000'000;
  const auto file_system = rocktune::ThrottledFileSystem::Create(rocksdb::FileSystem::Default(), device);
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(file_system);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;  // so that the printed bytes are comparable to the data
  options.env = env.get();
  // Without it, the I/O of flushes and compactions would count as "other".
  options.listeners.push_back(rocktune::NewThreadRoleListener());
  std::unique_ptr<rocksdb::DB> db;
  rocksdb::Status status = OpenDatabase(options, directory, &db);
  if (status.ok()) status = Fill(db.get());
  const rocktune::DeviceCounters counters = file_system->Counters();
  for (std::size_t cause = 0; cause < rocktune::kIoCauseCount; ++cause) {
    std::printf("%s %llu\n", rocktune::kIoCauseNames[cause],
                static_cast<unsigned long long>(counters.bytes[cause]));
  }
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", arguments[0]);
    return 2;
  }
  const rocksdb::Status status = Run(arguments[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
