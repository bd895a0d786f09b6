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

}  // namespace

std::chrono::milliseconds UntilNextCheck(uint64_t left, double operation_ns,
                                         std::chrono::nanoseconds min_wait) {
  std::chrono::nanoseconds wait = kMaxWait;
  if (operation_ns > 0) {
    const double expected_ns = static_cast<double>(left) * operation_ns / 2;
    const double max_ns = std::chrono::duration<double, std::nano>(kMaxWait).count();
    wait = std::chrono::nanoseconds(static_cast<int64_t>(std::min(expected_ns, max_ns)));
  }
  return std::chrono::ceil<std::chrono::milliseconds>(
      std::max({wait, min_wait, std::chrono::nanoseconds(kMinWait)}));
}

FlsmPilot::FlsmPilot(FlsmStore* store, FlsmController* controller, uint64_t operations,
                     int min_mission_per_cpu)
    : store_(store),
      controller_(controller),
      operations_(std::max<uint64_t>(1, operations)),
      min_mission_per_cpu_(min_mission_per_cpu),
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
  std::chrono::nanoseconds paid{};  // CPU time that counts for earlier missions
  // CPU time until the last wait. What waking up and this look take counts for the next wait: otherwise each
  // look would find that the mission has to last a little longer.
  std::chrono::nanoseconds used{};
  std::unique_lock<std::mutex> lock(mutex_);
  auto wait = kMinWait;
  while (!wake_.wait_for(lock, wait, [this] { return stopping_; })) {
    lock.unlock();
    const FlsmStatistics now = store_->Statistics();
    const Clock::time_point checked = Clock::now();
    const Clock::duration so_far = checked - begun;
    const uint64_t done = Operations(now) - Operations(before);
    const double operation_ns =
        done == 0 ? 0 : std::chrono::duration<double, std::nano>(so_far).count() / static_cast<double>(done);
    uint64_t left = operations_ - std::min(operations_, done);
    if (left == 0 && so_far >= min_mission_per_cpu_ * (used - paid)) {
      EndMission(
          {0, std::chrono::duration<double>(so_far).count(), Difference(now, before), store_->Shape()});
      before = now;
      begun = checked;
      paid = used;
      left = operations_;
    }
    used = ThreadCpuTime();
    cpu_ns_ = static_cast<uint64_t>(used.count());
    wait = UntilNextCheck(left, operation_ns, min_mission_per_cpu_ * (used - paid) - (Clock::now() - begun));
    lock.lock();
  }
}

void FlsmPilot::EndMission(FlsmMission mission) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    mission.number = ++missions_;
  }
  Decide(mission);
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
