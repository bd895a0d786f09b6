#include "rocktune/flsm/flsm_pilot.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace rocktune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kMinWait{1};
constexpr std::chrono::milliseconds kMaxWait{100};

// Returns the CPU time of the calling thread. Time that it waits, for locks or a processor, costs others
// nothing.
std::chrono::nanoseconds ThreadCpuTime() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

// Returns the number of operations that make up missions.
uint64_t Operations(const FlsmStatistics& statistics) {
  return statistics.lookups + statistics.iterators + statistics.entries_written;
}

template <typename Struct>
Struct FieldsDifference(Struct now, const Struct& before) {
  for (const auto& [name, field] : Struct::Fields()) {
    now.*field -= before.*field;
  }
  return now;
}

FlsmStatistics Difference(const FlsmStatistics& now, const FlsmStatistics& before) {
  FlsmStatistics difference = FieldsDifference(now, before);
  difference.quiet = FieldsDifference(now.quiet, before.quiet);
  difference.merging = FieldsDifference(now.merging, before.merging);
  for (std::size_t level = 0; level < now.levels.size(); ++level) {
    difference.levels[level] = FieldsDifference(now.levels[level], before.levels[level]);
  }
  return difference;
}

// Returns the time until the next check: half of the expected time for the operations that are still wanted,
// at the present rate.
std::chrono::milliseconds PollInterval(uint64_t done, uint64_t wanted, Clock::duration so_far) {
  if (done == 0 || done >= wanted) {
    return done == 0 ? kMaxWait : kMinWait;
  }
  const double left = static_cast<double>(wanted - done) / static_cast<double>(done);
  const auto expected =
      std::chrono::duration_cast<std::chrono::milliseconds>(so_far * std::min(left, 1e6) / 2);
  return std::clamp(expected, kMinWait, kMaxWait);
}

}  // namespace

FlsmPilot::FlsmPilot(FlsmStore* store, FlsmController* controller, uint64_t operations,
                     int min_mission_per_decision)
    : store_(store),
      controller_(controller),
      operations_(std::max<uint64_t>(1, operations)),
      min_mission_per_decision_(min_mission_per_decision),
      // The statistics of now, not of when the thread begins to run: the first mission starts here.
      thread_([this, before = store->Statistics()] { RunMissions(before); }) {}

FlsmPilot::~FlsmPilot() { Stop(); }

void FlsmPilot::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

uint64_t FlsmPilot::missions() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return missions_;
}

rocksdb::Status FlsmPilot::LastRefusal() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_refusal_;
}

void FlsmPilot::RunMissions(FlsmStatistics before) {
  Clock::time_point begun = Clock::now();
  Clock::duration min_duration{};  // of the present mission
  std::unique_lock<std::mutex> lock(mutex_);
  auto poll = kMinWait;
  while (!wake_.wait_for(lock, poll, [this] { return stopping_; })) {
    const FlsmStatistics now = store_->Statistics();
    const Clock::time_point ended = Clock::now();
    cpu_ns_ = static_cast<uint64_t>(ThreadCpuTime().count());
    const uint64_t done = Operations(now) - Operations(before);
    poll = PollInterval(done, operations_, ended - begun);
    if (done < operations_ || ended - begun < min_duration) {
      continue;
    }
    FlsmMission mission{++missions_, std::chrono::duration<double>(ended - begun).count(),
                        Difference(now, before), store_->Shape()};
    lock.unlock();
    const std::chrono::nanoseconds used = ThreadCpuTime();
    Decide(mission);
    min_duration = min_mission_per_decision_ * (ThreadCpuTime() - used);
    lock.lock();
    before = now;
    begun = ended;
  }
}

void FlsmPilot::Decide(const FlsmMission& mission) {
  for (const FlsmPolicyChange& change : controller_->Decide(mission)) {
    rocksdb::Status status = store_->SetPolicy(change.level, change.policy, change.transition);
    if (!status.ok()) {
      const std::lock_guard<std::mutex> lock(mutex_);
      last_refusal_ = std::move(status);
    }
  }
}

}  // namespace rocktune
