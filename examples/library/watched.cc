// Writes to a store for some seconds while an OptionsWatcher applies the file ROCKTUNE_OPTIONS in its
// directory. Prints what becomes of each file, and at the end the watcher's counters in Prometheus' text
// format. Meanwhile, in another terminal:
//
//   rocktune apply DIRECTORY --options-file NEW
//
//   ./watched DIRECTORY [SECONDS]

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "open_database.h"
#include "rocktune/options_watcher.h"

namespace {

constexpr std::uint64_t kKeys = 100'000;

// Prints the status and ends the program if it is not OK.
void Require(const rocksdb::Status& status, const std::string& what) {
  if (!status.ok()) {
    std::cerr << what << ": " << status.ToString() << "\n";
    std::exit(1);
  }
}

void Print(const rocktune::OptionsReport& report) {
  for (const rocktune::OptionChange& change : report.changes) {
    std::cout << change.where << " " << change.name << ": " << change.before << " -> " << change.after
              << "\n";
  }
  const bool in_force = report.outcome == rocktune::OptionsOutcome::kApplied ||
                        report.outcome == rocktune::OptionsOutcome::kWaiting;
  std::cout << (in_force ? "applied" : "not applied") << (report.reason.empty() ? "" : ": ") << report.reason
            << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: " << argv[0] << " DIRECTORY [SECONDS]\n";
    return 2;
  }
  rocksdb::Options options;
  options.create_if_missing = true;
  std::unique_ptr<rocksdb::DB> database;
  Require(OpenDatabase(options, argv[1], &database), "open");

  rocktune::OptionsWatcherOptions watching;
  watching.on_report = Print;
  std::unique_ptr<rocktune::OptionsWatcher> watcher;
  Require(rocktune::OptionsWatcher::Start(database.get(), {}, watching, &watcher), "watch");

  const std::string value(1000, 'v');
  const auto seconds = std::chrono::duration<double>(argc > 2 ? std::stod(argv[2]) : 60);
  const auto end = std::chrono::steady_clock::now() + seconds;
  for (std::uint64_t number = 0; std::chrono::steady_clock::now() < end; ++number) {
    Require(database->Put(rocksdb::WriteOptions(), std::to_string(number % kKeys), value), "put");
  }

  std::cout << watcher->PrometheusText();
  watcher.reset();  // before Close
  Require(database->Close(), "close");
  return 0;
}
