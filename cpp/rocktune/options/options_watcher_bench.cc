// Measures how long a change of options takes to be in force while two threads write as fast as possible:
// from the renaming of the watched file to the watcher's report, with the default interval of 0.5 s.
//
//   options_watcher_bench DIRECTORY [CHANGES]

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/options/watched_text.h"
#include "rocktune/options_watcher.h"
#include "rocktune/util/durable_file.h"
#include "rocktune/util/rocksdb_compat.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWriters = 2;
constexpr uint64_t kKeys = 200'000;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Changes options `changes` times and returns the sorted times in seconds until each was in force; fewer if
// the watcher did not apply one.
std::vector<double> Change(rocksdb::DB* db, int changes) {
  std::atomic<int> applied{0};
  rocktune::OptionsWatcherOptions options;
  options.on_report = [&](const rocktune::OptionsReport& report) {
    applied += report.outcome == rocktune::OptionsOutcome::kApplied ? 1 : changes + 1;
  };
  std::unique_ptr<rocktune::OptionsWatcher> watcher;
  std::vector<double> seconds;
  if (!rocktune::OptionsWatcher::Start(db, {}, options, &watcher).ok()) {
    return seconds;
  }
  for (int change = 1; change <= changes && applied == change - 1; ++change) {
    const std::string text = rocktune::WatchedText(
        "[DBOptions]\nmax_background_jobs=" + std::to_string(2 + change % 2) +
        "\n[CFOptions \"default\"]\nwrite_buffer_size=" + std::to_string((4 << 20) + change) + "\n");
    const Clock::time_point begin = Clock::now();
    if (!rocktune::ReplaceFile(db->GetEnv(), db->GetName(), rocktune::kWatchedFile, text).ok()) {
      break;
    }
    while (applied < change) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    seconds.push_back(SecondsSince(begin));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY [CHANGES]\n", argv[0]);
    return 2;
  }
  const int changes = argc > 2 ? std::stoi(argv[2]) : 50;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 4 << 20;
  std::unique_ptr<rocksdb::DB> db;
  if (const rocksdb::Status status = rocktune::OpenDatabase(options, argv[1], &db); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  std::atomic<bool> ended{false};
  std::atomic<uint64_t> done{0};
  std::atomic<uint64_t> failed{0};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      const std::string value(1000, 'v');
      for (uint64_t key = static_cast<uint64_t>(writer); !ended; key += kWriters) {
        failed += db->Put({}, std::to_string(key * 7919 % kKeys), value).ok() ? 0 : 1;
        ++done;
      }
    });
  }
  const std::vector<double> seconds = Change(db.get(), changes);
  ended = true;
  for (std::thread& writer : writers) {
    writer.join();
  }
  std::printf("RocksDB %s: %zu of %d changes applied, %llu writes, %llu failed\n",
              rocktune::RocksDbVersion().c_str(), seconds.size(), changes,
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(failed));
  if (!seconds.empty()) {
    std::printf("seconds until in force: median %.3f, maximum %.3f\n", seconds[seconds.size() / 2],
                seconds.back());
  }
  return seconds.size() == static_cast<std::size_t>(changes) && failed == 0 ? 0 : 1;
}
