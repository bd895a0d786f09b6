// Writes as fast as it can for some seconds into a store whose compactions are governed, prints what the
// governor decides, and then its counters in Prometheus' text format.
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

#include "open_database.h"
#include "rocktune/compaction_governor.h"

namespace {

constexpr std::uint64_t kDeviceBytesPerSecond = 100'000'000;
constexpr std::uint64_t kKeys = 1'000'000;

void Require(const rocksdb::Status& status, const std::string& what) {
  if (!status.ok()) {
    std::cerr << what << ": " << status.ToString() << "\n";
    std::exit(1);
  }
}

rocktune::GovernorOptions Options() {
  rocktune::GovernorOptions options;
  options.mode = rocktune::GovernorMode::kProportional;
  options.device_bytes_per_s = kDeviceBytesPerSecond;
  options.interval_us = 500'000;
  options.debt_runs = 40;  // a read looks into at most so many tables of level 0
  options.on_decision = [](const rocktune::GovernorDecision& decision) {
    std::cout << "flushes take " << static_cast<int>(decision.flush_share * 100) << "% of their fastest, "
              << decision.sample.sorted_runs << " tables in level 0, compactions may take "
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

  std::unique_ptr<rocktune::CompactionGovernor> governor;
  Require(rocktune::CompactionGovernor::Create(Options(), &governor), "governor");
  governor->Prepare(&options);  // its rate limiter and its listener
  std::unique_ptr<rocksdb::DB> database;
  Require(OpenDatabase(options, argv[1], &database), "open");
  Require(governor->Attach(database.get()), "attach");

  WriteFor(database.get(), argc > 2 ? std::stod(argv[2]) : 5);

  std::cout << governor->PrometheusText();
  const rocksdb::Status detached = governor->Detach(database.get(), std::chrono::seconds(30));
  if (detached.IsIncomplete()) {
    std::cout << "compactions have not caught up: " << detached.ToString() << "\n";
  } else {
    Require(detached, "detach");
  }
  Require(database->Close(), "close");
  return 0;
}
