#include "rocktune/options_watcher.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rocktune/governor/fake_governed_db.h"
#include "rocktune/options/watched_text.h"
#include "rocktune/util/durable_file.h"

namespace rocktune {
namespace {

constexpr uint64_t kShortInterval = 2000;  // microseconds

class OptionsWatcherTest : public GovernedDbTest {
 protected:
  ~OptionsWatcherTest() override { watcher_.reset(); }

  void OpenAndStart() {
    Open();
    Start();
  }
  void Start() {
    OptionsWatcherOptions options;
    options.interval_us = kShortInterval;
    options.on_report = [this](const OptionsReport& report) {
      const std::lock_guard<std::mutex> lock(mutex_);
      reports_.push_back(report);
      reported_.notify_all();
    };
    const rocksdb::Status status = OptionsWatcher::Start(db_.get(), {}, options, &watcher_);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  // Replaces the watched file by rename.
  void Replace(const std::string& text) {
    ASSERT_TRUE(ReplaceFile(rocksdb::Env::Default(), directory_, kWatchedFile, text).ok());
  }
  // Waits for the report number `number`, from 0, and returns it.
  OptionsReport WaitForReport(std::size_t number) {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool came =
        reported_.wait_for(lock, std::chrono::minutes(5), [&] { return reports_.size() > number; });
    EXPECT_TRUE(came);
    return came ? reports_[number] : OptionsReport();
  }
  // Waits until the watcher has looked at the file at least twice more.
  static void PassLooks() { std::this_thread::sleep_for(std::chrono::microseconds(20 * kShortInterval)); }
  std::size_t Reports() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return reports_.size();
  }

  std::mutex mutex_;
  std::condition_variable reported_;
  std::vector<OptionsReport> reports_;
  std::unique_ptr<OptionsWatcher> watcher_;
};

TEST_F(OptionsWatcherTest, AppliesEachChangeOnce) {
  OpenAndStart();
  Replace(FamilyText("write_buffer_size=1M"));
  EXPECT_EQ(WaitForReport(0).outcome, OptionsOutcome::kApplied);
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 1u << 20);
  Replace(FamilyText("write_buffer_size=2M"));
  EXPECT_EQ(WaitForReport(1).outcome, OptionsOutcome::kApplied);
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 2u << 20);
  PassLooks();
  EXPECT_EQ(Reports(), 2u);
  const OptionsWatcherCounters counters = watcher_->Counters();
  EXPECT_EQ(counters.files_applied, 2u);
  EXPECT_EQ(counters.options_changed, 2u);
  EXPECT_EQ(counters.file_crc32, watcher_->LastReport().file_crc32);
  EXPECT_NE(watcher_->PrometheusText().find("rocktune_options_files_applied_total 2.0"), std::string::npos);
}

TEST_F(OptionsWatcherTest, AppliesAFileThatIsThereAtTheStart) {
  Open();
  Replace(FamilyText("write_buffer_size=1M"));
  Start();
  EXPECT_EQ(WaitForReport(0).outcome, OptionsOutcome::kApplied);
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 1u << 20);
}

TEST_F(OptionsWatcherTest, RefusesAFileThatStaysIncompleteOnce) {
  OpenAndStart();
  Replace(FamilyText("write_buffer_size=1M").substr(0, 40));
  const OptionsReport report = WaitForReport(0);
  EXPECT_EQ(report.outcome, OptionsOutcome::kRefused);
  PassLooks();
  EXPECT_EQ(Reports(), 1u);
  EXPECT_EQ(watcher_->Counters().files_refused, 1u);
  Replace(std::string(2 << 20, 'x'));
  EXPECT_EQ(WaitForReport(1).outcome, OptionsOutcome::kRefused) << "too large";
}

TEST_F(OptionsWatcherTest, ADeletedFileChangesNothing) {
  OpenAndStart();
  Replace(FamilyText("write_buffer_size=1M"));
  WaitForReport(0);
  std::filesystem::remove(directory_ + "/" + kWatchedFile);
  PassLooks();
  EXPECT_EQ(Reports(), 1u);
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 1u << 20);
}

TEST_F(OptionsWatcherTest, ServesWritesMeanwhile) {
  OpenAndStart();
  std::atomic<bool> ended{false};
  std::atomic<int> failed{0};
  std::thread writer([&] {
    for (int key = 0; !ended; ++key) {
      failed += db_->Put({}, std::to_string(key % 1000), std::string(100, 'v')).ok() ? 0 : 1;
    }
  });
  for (int number = 0; number < 10; ++number) {
    Replace(FamilyText("write_buffer_size=" + std::to_string(2'000'000 + number)));
    EXPECT_EQ(WaitForReport(static_cast<std::size_t>(number)).outcome, OptionsOutcome::kApplied);
  }
  ended = true;
  writer.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 2'000'009u);
}

TEST_F(OptionsWatcherTest, SetsWhatWaitedAfterTheGovernor) {
  CreateAndAttach(GovernorMode::kProportional);
  Start();
  Replace(FamilyText("level0_stop_writes_trigger=40"));
  EXPECT_EQ(WaitForReport(0).outcome, OptionsOutcome::kWaiting);
  EXPECT_EQ(watcher_->Counters().options_waiting, 1u);
  ASSERT_TRUE(governor_->Detach(db_.get(), kNoWait).ok());
  EXPECT_EQ(WaitForReport(1).outcome, OptionsOutcome::kApplied);
  EXPECT_EQ(db_->GetOptions().level0_stop_writes_trigger, 40);
  EXPECT_EQ(watcher_->Counters().options_waiting, 0u);
  EXPECT_EQ(watcher_->Counters().files_applied, 1u);
}

TEST_F(OptionsWatcherTest, RefusesToStart) {
  OptionsWatcherOptions options;
  options.interval_us = 10;
  Open();
  EXPECT_TRUE(OptionsWatcher::Start(db_.get(), {}, options, &watcher_).IsInvalidArgument());
  db_.reset();
  std::unique_ptr<rocksdb::DB> read_only;
  ASSERT_TRUE(OpenDatabaseReadOnly(db_options_, directory_, &read_only).ok());
  EXPECT_TRUE(OptionsWatcher::Start(read_only.get(), {}, {}, &watcher_).IsNotSupported());
  EXPECT_EQ(watcher_, nullptr);
}

TEST_F(OptionsWatcherTest, StopsTwiceAndKeepsTheOptions) {
  OpenAndStart();
  Replace(FamilyText("write_buffer_size=1M"));
  WaitForReport(0);
  watcher_->Stop();
  watcher_->Stop();
  Replace(FamilyText("write_buffer_size=2M"));
  PassLooks();
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 1u << 20);
}

}  // namespace
}  // namespace rocktune
