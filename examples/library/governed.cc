// Writes to a store with a compaction governor as fast as possible for some seconds. Prints each decision of
// the governor, and at the end its counters in Prometheus' text format.
//
// The governor finds the bandwidth of the device, and families that the program creates later are governed
// too.
//
//   ./governed DIRECTORY [SECONDS]

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "open_database.h"
#include "rocktune/compaction_governor.h"
#include "rocktune/governed_db.h"

namespace {

constexpr std::uint64_t kKeys = 1'000'000;

// Prints the status and ends the program if it is not OK.
void Require(const rocksdb::Status& status, const std::string& what) {
  if (!status.ok()) {
    std::cerr << what << ": " << status.ToString() << "\n";
    std::exit(1);
  }
}

rocktune::GovernorOptions Options() {
  rocktune::GovernorOptions options;
  options.mode = rocktune::GovernorMode::kProportional;
  options.interval_us = 500'000;
  options.debt_runs = 40;  // limits the tables of level 0 that a lookup may have to read
  options.on_decision = [](const rocktune::GovernorDecision& decision) {
    std::cout << "flushes use " << static_cast<int>(decision.flush_share * 100) << "% of their maximum rate, "
              << decision.sample.sorted_runs << " tables in level 0, limit of compactions "
              << decision.compaction_bytes_per_s / 1'000'000 << " MB/s" << std::endl;
  };
  return options;
}

void WriteFor(rocksdb::DB* database, double seconds) {
  std::mt19937_64 random(1);
  const std::string value(1000, 'v');
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    Require(database->Put(rocksdb::WriteOptions(), std::to_string(random() % kKeys), value), "put");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: " << argv[0] << " DIRECTORY [SECONDS]\n";
    return 2;
  }
  rocksdb::Options options;
  options.create_if_missing = true;

  std::unique_ptr<rocktune::CompactionGovernor> created;
  Require(rocktune::CompactionGovernor::Create(Options(), &created), "governor");
  const std::shared_ptr<rocktune::CompactionGovernor> governor = std::move(created);
  governor->Prepare(&options);  // before Open: adds the governor's rate limiter and listeners
  std::unique_ptr<rocksdb::DB> opened;
  Require(OpenDatabase(options, argv[1], &opened), "open");
  std::unique_ptr<rocktune::GovernedDb> database;
  // From here on the governed database owns the other. Closing lets compactions catch up for at most 30 s.
  Require(rocktune::GovernedDb::Attach(governor, opened.get(), {}, std::chrono::seconds(30), &database),
          "attach");
  static_cast<void>(opened.release());
  std::cout << "the device takes " << governor->Counters().device_bytes_per_s / 1'000'000 << " MB/s"
            << std::endl;

  WriteFor(database.get(), argc > 2 ? std::stod(argv[2]) : 5);

  std::cout << governor->PrometheusText();
  Require(database->Close(), "close");
  return 0;
}
