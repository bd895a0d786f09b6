// A governed store whose process is killed at any moment loses nothing that it has acknowledged, and one
// whose machine loses power nothing that it has synced. The store lives in a process of its own: this program
// again.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "rocktune/governor/compaction_governor.h"
#include "rocktune/governor/fake_power_cut.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr const char* kDirectoryVariable = "ROCKTUNE_CRASH_DIRECTORY";
constexpr const char* kCaseVariable = "ROCKTUNE_CRASH_CASE";
constexpr uint64_t kFirstKill = 3000;
constexpr uint64_t kBetweenKills = 1700;
constexpr int kKills = 5;
constexpr auto kPatience = std::chrono::seconds(120);

struct Case {
  GovernorMode mode;
  bool synced;  // writes are synced, and power fails
};

std::string KeyOf(uint64_t number) {
  // Scattered, so that tables overlap and compactions have something to do.
  return std::to_string((number * 0x9E3779B97F4A7C15) >> 20) + "-" + std::to_string(number);
}

// How many writes were acknowledged, in memory that another process sees and that survives this one.
class Acknowledged {
 public:
  explicit Acknowledged(const std::string& path) {
    if (!std::filesystem::exists(path)) {
      std::ofstream(path) << std::string(sizeof(uint64_t), '\0');
    }
    const int descriptor = open(path.c_str(), O_RDWR);
    count_ = static_cast<std::atomic<uint64_t>*>(
        mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    close(descriptor);
  }
  ~Acknowledged() { munmap(count_, sizeof(uint64_t)); }
  Acknowledged(const Acknowledged&) = delete;
  Acknowledged& operator=(const Acknowledged&) = delete;

  std::atomic<uint64_t>& operator*() { return *count_; }

 private:
  std::atomic<uint64_t>* count_;
};

rocksdb::Options SmallOptions(rocksdb::Env* env) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.env = env;
  options.write_buffer_size = 256 << 10;
  options.target_file_size_base = 256 << 10;
  options.max_bytes_for_level_base = 1 << 20;
  options.max_background_jobs = 4;
  options.level0_slowdown_writes_trigger = 8;  // so that level 0 is merged within itself
  return options;
}

class GovernorCrashTest : public testing::TestWithParam<Case> {
 protected:
  ~GovernorCrashTest() override { std::filesystem::remove_all(directory_); }

  // Starts this program as the store's process, waits until so many writes are acknowledged, and kills it.
  void RunAndKill(uint64_t when) {
    const pid_t child = fork();
    if (child == 0) {
      setenv(kDirectoryVariable, directory_.c_str(), 1);
      setenv(kCaseVariable, GetParam().mode == GovernorMode::kToggle ? "toggle" : "proportional", 1);
      if (GetParam().synced) {
        setenv("ROCKTUNE_CRASH_SYNCED", "1", 1);
      }
      execl("/proc/self/exe", "tests", "--gtest_also_run_disabled_tests",
            "--gtest_filter=GovernorCrashChild.DISABLED_WritesUntilItIsKilled", nullptr);
      _exit(127);
    }
    Acknowledged acknowledged(directory_ + ".acknowledged");
    const auto begin = std::chrono::steady_clock::now();
    while (*acknowledged < when && std::chrono::steady_clock::now() - begin < kPatience) {
      ASSERT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "the store's process ended by itself";
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ASSERT_GE(*acknowledged, when);
  }

  void ExpectNothingLost() {
    // What recovery writes has to survive the next time too.
    const std::unique_ptr<rocksdb::Env> env =
        rocksdb::NewCompositeEnv(std::make_shared<SyncNotingFileSystem>());
    std::unique_ptr<rocksdb::DB> db;
    const rocksdb::Status status = OpenDatabase(SmallOptions(env.get()), directory_, &db);
    ASSERT_TRUE(status.ok()) << status.ToString();
    const uint64_t count = *Acknowledged(directory_ + ".acknowledged");
    std::string value;
    for (uint64_t number = 0; number < count; ++number) {
      ASSERT_TRUE(db->Get(rocksdb::ReadOptions(), KeyOf(number), &value).ok()) << number << " of " << count;
    }
  }

  const std::string directory_ = testing::TempDir() + "governor-crash-" + std::to_string(getpid());
};

TEST_P(GovernorCrashTest, LosesNothing) {
  std::filesystem::remove_all(directory_);
  std::filesystem::create_directories(directory_);
  std::filesystem::remove(directory_ + ".acknowledged");
  for (int kill = 0; kill < kKills; ++kill) {
    // A sync may take ten milliseconds.
    RunAndKill((kFirstKill + kill * kBetweenKills) / (GetParam().synced ? 4 : 1));
    if (GetParam().synced) {
      SyncNotingFileSystem::CutPower(directory_);
    }
    ExpectNothingLost();
  }
  std::filesystem::remove(directory_ + ".acknowledged");
}

INSTANTIATE_TEST_SUITE_P(
    Modes, GovernorCrashTest,
    testing::Values(Case{GovernorMode::kToggle, false}, Case{GovernorMode::kToggle, true},
                    Case{GovernorMode::kProportional, false}, Case{GovernorMode::kProportional, true}),
    [](const testing::TestParamInfo<Case>& each) {
      return std::string(each.param.mode == GovernorMode::kToggle ? "Toggle" : "Proportional") +
             (each.param.synced ? "PowerCut" : "Killed");
    });

TEST(GovernorCrashChild, DISABLED_WritesUntilItIsKilled) {
  const char* directory = std::getenv(kDirectoryVariable);
  const char* mode = std::getenv(kCaseVariable);
  if (directory == nullptr || mode == nullptr) {
    GTEST_SKIP() << "is started by GovernorCrashTest";
  }
  const bool synced = std::getenv("ROCKTUNE_CRASH_SYNCED") != nullptr;
  GovernorOptions governing;
  governing.mode = std::string(mode) == "toggle" ? GovernorMode::kToggle : GovernorMode::kProportional;
  governing.device_bytes_per_s = 20'000'000;  // little enough to toggle and to wait for
  governing.interval_us = 10'000;
  governing.debt_runs = 60;
  std::unique_ptr<CompactionGovernor> governor;
  ASSERT_TRUE(CompactionGovernor::Create(governing, &governor).ok());
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<SyncNotingFileSystem>());
  rocksdb::Options options = SmallOptions(env.get());
  governor->Prepare(&options);
  std::unique_ptr<rocksdb::DB> db;
  ASSERT_TRUE(OpenDatabase(options, directory, &db).ok());
  ASSERT_TRUE(governor->Attach(db.get()).ok());
  rocksdb::WriteOptions write;
  write.sync = synced;
  Acknowledged acknowledged(std::string(directory) + ".acknowledged");
  for (uint64_t number = *acknowledged;; ++number) {
    ASSERT_TRUE(db->Put(write, KeyOf(number), std::string(1000, 'v')).ok());
    *acknowledged = number + 1;
  }
}

}  // namespace
}  // namespace rocktune
