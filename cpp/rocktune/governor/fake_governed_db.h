#pragma once

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/utilities/stackable_db.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rocktune/compaction_governor.h"
#include "rocktune/governor/fake_clock.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {

// Fixtures for tests of a governor on a real database. The test controls the clock, holds compactions and
// fails changes of options.

inline constexpr std::chrono::milliseconds kNoWait{0};
inline constexpr int64_t kSecond = FakeClock::kSecond;

// A database whose SetOptions and CompactFiles fail or wait while the test sets the members below.
class FaultInjectionDb : public rocksdb::StackableDB {
 public:
  explicit FaultInjectionDb(rocksdb::DB* db) : StackableDB(db) {}
  using StackableDB::SetOptions;
  rocksdb::Status SetOptions(rocksdb::ColumnFamilyHandle* family,
                             const std::unordered_map<std::string, std::string>& options) override {
    for (set_options_called = true; blocks_set_options;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return fails_set_options ? rocksdb::Status::IOError("no more options")
                             : StackableDB::SetOptions(family, options);
  }
  using StackableDB::CompactFiles;
  rocksdb::Status CompactFiles(const rocksdb::CompactionOptions& options, rocksdb::ColumnFamilyHandle* family,
                               const std::vector<std::string>& names, const int level, const int path,
                               std::vector<std::string>* const written,
                               rocksdb::CompactionJobInfo* job) override {
    ++merges;
    if (merge_fault == MergeFault::kNone) {
      return StackableDB::CompactFiles(options, family, names, level, path, written, job);
    }
    return merge_fault == MergeFault::kAborted ? rocksdb::Status::Aborted("a running compaction")
                                               : rocksdb::Status::IOError("no merges");
  }
  enum class MergeFault { kNone, kAborted, kIOError };
  // What CompactFiles returns: kAborted as if another compaction used the tables.
  std::atomic<MergeFault> merge_fault{MergeFault::kNone};
  std::atomic<int> merges{0};  // calls of CompactFiles
  std::atomic<bool> fails_set_options{false};
  std::atomic<bool> blocks_set_options{false};
  std::atomic<bool> set_options_called{false};  // reset by the test
};

// Prevents RocksDB's own compactions for its lifetime: it occupies the only thread of the pool they use.
class BlockedCompactions {
 public:
  // Waits until the thread is occupied.
  BlockedCompactions() {
    rocksdb::Env::Default()->SetBackgroundThreads(1, rocksdb::Env::Priority::LOW);
    rocksdb::Env::Default()->Schedule(&BlockedCompactions::Hold, new std::shared_ptr<Gate>(gate_),
                                      rocksdb::Env::Priority::LOW);
    gate_->blocked.get_future().wait();
  }
  ~BlockedCompactions() { gate_->release.set_value(); }
  BlockedCompactions(const BlockedCompactions&) = delete;
  BlockedCompactions& operator=(const BlockedCompactions&) = delete;

 private:
  struct Gate {
    std::promise<void> blocked;
    std::promise<void> release;
  };

  static void Hold(void* gate) {
    const std::unique_ptr<std::shared_ptr<Gate>> owned(static_cast<std::shared_ptr<Gate>*>(gate));
    (*owned)->blocked.set_value();
    (*owned)->release.get_future().wait();
  }

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

class GovernedDbTest : public testing::Test {
 protected:
  GovernedDbTest() { db_options_.level0_slowdown_writes_trigger = 21; }
  ~GovernedDbTest() override {
    governor_.reset();
    db_.reset();
    std::filesystem::remove_all(directory_);
  }

  // Returns options of a governor on the fake clock, with intervals of a second and a low maximum flush rate.
  GovernorOptions Options(GovernorMode mode) {
    GovernorOptions options;
    options.mode = mode;
    options.device_bytes_per_s = 1'000'000;
    options.max_flush_bytes_per_s = 1000;  // any flush is a peak
    options.interval_us = 1'000'000;
    options.clock = clock_;
    return options;
  }

  // Creates governor_.
  void Create(const GovernorOptions& options) {
    ASSERT_TRUE(CompactionGovernor::Create(options, &governor_).ok());
  }

  // Opens db_ with db_options_, prepared by governor_ if there is one.
  void Open() {
    rocksdb::Options options = db_options_;
    options.create_if_missing = true;
    if (governor_ != nullptr) {
      governor_->Prepare(&options);
    }
    std::unique_ptr<rocksdb::DB> opened;
    const rocksdb::Status status = OpenDatabase(options, directory_, &opened);
    ASSERT_TRUE(status.ok()) << status.ToString();
    db_ = std::make_unique<FaultInjectionDb>(opened.release());
  }

  void CreateAndAttach(GovernorMode mode) {
    Create(Options(mode));
    Open();
    ASSERT_TRUE(governor_->Attach(db_.get()).ok());
  }

  // Writes 100 entries of 1000 bytes and flushes them as one table.
  void WriteAndFlush() {
    for (int key = 0; key < 100; ++key) {
      ASSERT_TRUE(db_->Put(rocksdb::WriteOptions(), std::to_string(key), std::string(1000, 'v')).ok());
    }
    ASSERT_TRUE(db_->Flush(rocksdb::FlushOptions()).ok());
  }

  // Advances the clock by an interval, and waits until the governor has ended it.
  void PassInterval() {
    const uint64_t before = Intervals();
    clock_->Advance(kSecond);
    while (Intervals() == before) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // Returns the number of intervals that the governor has ended, discarded ones included.
  uint64_t Intervals() const {
    const GovernorCounters counters = governor_->Counters();
    return counters.intervals + counters.discarded_intervals;
  }
  uint64_t Level0Tables() const {
    std::string tables;
    EXPECT_TRUE(db_->GetProperty(rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0", &tables));
    return std::stoull(tables);
  }
  bool CompactionsOff() const { return db_->GetOptions().disable_auto_compactions; }

  static std::string NewDirectory() {
    std::string pattern = testing::TempDir() + "governor-XXXXXX";
    return mkdtemp(pattern.data());
  }

  const std::string directory_ = NewDirectory();
  rocksdb::Options db_options_;  // for the next Open
  std::shared_ptr<FakeClock> clock_ = std::make_shared<FakeClock>();
  std::unique_ptr<FaultInjectionDb> db_;
  std::unique_ptr<CompactionGovernor> governor_;
};

}  // namespace rocktune
