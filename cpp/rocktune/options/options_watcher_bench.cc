// Measures an OptionsWatcher while two threads write and one reads as fast as they can:
// - the time from the renaming of the watched file to the report that its options are in force, with the
//   default interval of 0.5 s;
// - what files change that are malformed, cut short, another database's or contradictory;
// - what valid files that alternate leave behind: heap in use and descriptors, each with compacted data.
// Prints one JSON document.
//
//   options_watcher_bench DIRECTORY CHANGES BAD_FILES ALTERNATING_FILES

#include <malloc.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/options/watched_text.h"
#include "rocktune/options_watcher.h"
#include "rocktune/util/durable_file.h"
#include "rocktune/util/rocksdb_compat.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kWriters = 2;
constexpr uint64_t kKeys = 20'000;
constexpr uint64_t kShortIntervalMicros = 2'000;
constexpr int kWarmUp = 50;

void Require(const rocksdb::Status& status) {
  if (!status.ok()) {
    std::cerr << "options_watcher_bench: " << status.ToString() << "\n";
    std::exit(1);
  }
}

std::string Key(uint64_t number) { return std::to_string(number % kKeys); }

// Operations on a database from Begin to End.
class Load {
 public:
  explicit Load(rocksdb::DB* db) : db_(db) {}

  void Begin() {
    ended_ = false;
    for (uint64_t writer = 0; writer < kWriters; ++writer) {
      threads_.emplace_back([this, writer] {
        const std::string value(1000, 'v');
        for (uint64_t key = writer; !ended_; key += kWriters) {
          Count(db_->Put({}, Key(key * 7919), value));
        }
      });
    }
    threads_.emplace_back([this] {
      std::string value;
      for (uint64_t key = 0; !ended_; ++key) {
        Count(db_->Get({}, Key(key * 104'729), &value));
      }
    });
  }

  void End() {
    ended_ = true;
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }

  uint64_t done() const { return done_; }
  uint64_t failed() const { return failed_; }

 private:
  void Count(const rocksdb::Status& status) {
    ++done_;
    failed_ += status.ok() ? 0 : 1;
  }

  rocksdb::DB* const db_;
  std::atomic<bool> ended_{false};
  std::atomic<uint64_t> done_{0};
  std::atomic<uint64_t> failed_{0};
  std::vector<std::thread> threads_;
};

// Writes watched files and waits until the watcher has reported each.
class Files {
 public:
  // Deletes an earlier file: its report would be taken for that of the first one written here.
  Files(rocksdb::DB* db, uint64_t interval_us) : db_(db) {
    db->GetEnv()->DeleteFile(db->GetName() + "/" + rocktune::kWatchedFile).PermitUncheckedError();
    rocktune::OptionsWatcherOptions options;
    options.interval_us = interval_us;
    Require(rocktune::OptionsWatcher::Start(db, {}, options, &watcher_));
  }

  rocktune::OptionsWatcherCounters counters() const { return watcher_->Counters(); }

  // Returns the seconds until the report. `stopped` says whether writes were stopped meanwhile.
  double Write(const std::string& text, bool* stopped) {
    const uint64_t before = Reports();
    const Clock::time_point begin = Clock::now();
    *stopped = false;
    Require(rocktune::ReplaceFile(db_->GetEnv(), db_->GetName(), rocktune::kWatchedFile, text));
    while (Reports() == before) {
      uint64_t is_stopped = 0;
      db_->GetIntProperty("rocksdb.is-write-stopped", &is_stopped);
      *stopped |= is_stopped != 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

 private:
  uint64_t Reports() const {
    const rocktune::OptionsWatcherCounters counters = watcher_->Counters();
    return counters.files_applied + counters.files_refused + counters.files_rolled_back;
  }

  rocksdb::DB* const db_;
  std::unique_ptr<rocktune::OptionsWatcher> watcher_;
};

std::string ValidText(int number) {
  return rocktune::WatchedText(
      "[DBOptions]\nmax_background_jobs=" + std::to_string(2 + number % 2) +
      "\n[CFOptions \"default\"]\nwrite_buffer_size=" + std::to_string((4 << 20) + number) + "\n");
}

nlohmann::json Change(rocksdb::DB* db, int changes) {
  Files files(db, rocktune::OptionsWatcherOptions().interval_us);
  nlohmann::json seconds = nlohmann::json::array();
  int stopped = 0;
  for (int change = 1; change <= changes; ++change) {
    bool is_stopped = false;
    const double needed = files.Write(ValidText(change), &is_stopped);
    if (is_stopped) {
      ++stopped;
    } else {
      seconds.push_back(needed);
    }
  }
  return {{"applied", files.counters().files_applied}, {"seconds", seconds}, {"in_write_stops", stopped}};
}

// Returns a file that must change nothing; each number gives another one.
std::string BadText(int number) {
  static const std::array<const char*, 10> kBodies = {
      "[CFOptions \"default\"]\nwrite_buffer_size\n",
      "[CFOptions \"default\"\nwrite_buffer_size=8388608\n",
      "[CFOptions \"default\"]\nwrite_buffer_size=-1\n",
      "[CFOptions \"default\"]\nno_such_option=1\n",
      "[Database]\nid=another\n[CFOptions \"default\"]\nwrite_buffer_size=8388608\n",
      "[CFOptions \"another\"]\nwrite_buffer_size=8388608\n",
      "[CFOptions \"default\"]\nnum_levels=3\n",
      "[CFOptions \"default\"]\nwrite_buffer_size=8388608\nwrite_buffer_size=16777216\n",
      "[CFOptions \"default\"]\nlevel0_slowdown_writes_trigger=30\nlevel0_stop_writes_trigger=20\n",
      "[CFOptions "
      "\"default\"]\nsoft_pending_compaction_bytes_limit=9\nhard_pending_compaction_bytes_limit=8\n",
  };
  const std::size_t kind = static_cast<std::size_t>(number) % (kBodies.size() + 1);
  const std::string comment = "# file " + std::to_string(number) + "\n";
  if (kind < kBodies.size()) {
    return rocktune::WatchedText(comment + kBodies[kind]);
  }
  const std::string whole = rocktune::WatchedText(comment + "[DBOptions]\nmax_background_jobs=7\n");
  return whole.substr(0, static_cast<std::size_t>(number) * 31 % whole.size());
}

std::string OptionsOf(rocksdb::DB* db) {
  std::string of_database;
  std::string of_family;
  Require(rocksdb::GetStringFromDBOptions(rocksdb::ConfigOptions(), db->GetDBOptions(), &of_database));
  Require(rocksdb::GetStringFromColumnFamilyOptions(rocksdb::ConfigOptions(), db->GetOptions(), &of_family));
  return of_database + of_family;
}

nlohmann::json Refuse(rocksdb::DB* db, int count) {
  const std::string before = OptionsOf(db);
  Files files(db, kShortIntervalMicros);
  int changed = 0;
  for (int number = 0; number < count; ++number) {
    bool is_stopped = false;
    files.Write(BadText(number), &is_stopped);
    changed += OptionsOf(db) == before ? 0 : 1;
  }
  return {{"refused", files.counters().files_refused}, {"changed", changed}};
}

// Returns heap in use and descriptors, when nothing but the compacted data and the watcher is there.
std::array<int64_t, 2> Held(rocksdb::DB* db) {
  Require(db->Flush({}));
  rocksdb::CompactRangeOptions whole;
  whole.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  Require(db->CompactRange(whole, nullptr, nullptr));
  std::this_thread::sleep_for(std::chrono::seconds(1));  // deletions of files run in the background
  const struct mallinfo2 heap = mallinfo2();
  const std::filesystem::directory_iterator descriptors("/proc/self/fd");
  return {static_cast<int64_t>(heap.uordblks + heap.hblkhd),
          std::distance(begin(descriptors), end(descriptors))};
}

nlohmann::json Alternate(rocksdb::DB* db, int count, Load* load) {
  Files files(db, kShortIntervalMicros);
  const auto write = [&](int first, int last) {
    load->Begin();
    for (int number = first; number < last; ++number) {
      bool is_stopped = false;
      files.Write(ValidText(number % 2), &is_stopped);
    }
    load->End();
    return Held(db);
  };
  const std::array<int64_t, 2> before = write(0, kWarmUp);
  const std::array<int64_t, 2> after = write(kWarmUp, kWarmUp + count);
  return {{"applied", files.counters().files_applied - kWarmUp},
          {"heap_bytes", after[0] - before[0]},
          {"heap_bytes_before", before[0]},
          {"descriptors", after[1] - before[1]}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: " << argv[0] << " DIRECTORY CHANGES BAD_FILES ALTERNATING_FILES\n";
    return 2;
  }
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 4 << 20;
  std::unique_ptr<rocksdb::DB> db;
  Require(rocktune::OpenDatabase(options, argv[1], &db));
  for (uint64_t key = 0; key < kKeys; ++key) {
    Require(db->Put({}, Key(key), std::string(1000, 'v')));
  }
  Load load(db.get());
  load.Begin();
  nlohmann::json found = {{"rocksdb_version", rocktune::RocksDbVersion()}};
  found["valid"] = Change(db.get(), std::atoi(argv[2]));
  found["bad"] = Refuse(db.get(), std::atoi(argv[3]));
  load.End();
  found["alternating"] = Alternate(db.get(), std::atoi(argv[4]), &load);
  found["operations"] = load.done();
  found["failed"] = load.failed();
  std::cout << found.dump() << "\n";
  return 0;
}
