#include "rocktune/flsm/flsm_pilot.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace rocktune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kDecisionsShare = 100;  // a decision uses at most one part of so many of a processor
constexpr std::chrono::milliseconds kShortestWait{1};
constexpr std::chrono::milliseconds kMaxWait{100};

// That this thread has used: what it waits for, a lock or a processor, costs nobody anything.
std::chrono::nanoseconds ThreadCpuTime() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

uint64_t Operations(const FlsmStatistics& statistics) {
  return statistics.lookups + statistics.iterators + statistics.entries_written;
}

template <typename Struct>
Struct FieldsSince(Struct now, const Struct& before) {
  for (const auto& [name, field] : Struct::Fields()) {
    now.*field -= before.*field;
  }
  return now;
}

FlsmStatistics Since(const FlsmStatistics& now, const FlsmStatistics& before) {
  FlsmStatistics since = FieldsSince(now, before);
  since.quiet = FieldsSince(now.quiet, before.quiet);
  since.merging = FieldsSince(now.merging, before.merging);
  for (std::size_t level = 0; level < now.levels.size(); ++level) {
    since.levels[level] = FieldsSince(now.levels[level], before.levels[level]);
  }
  return since;
}

// How long to wait before looking again, if operations go on at the pace that they had.
std::chrono::milliseconds Patience(uint64_t done, uint64_t wanted, Clock::duration so_far) {
  if (done == 0 || done >= wanted) {
    return done == 0 ? kMaxWait : kShortestWait;
  }
  const double left = static_cast<double>(wanted - done) / static_cast<double>(done);
  const auto expected =
      std::chrono::duration_cast<std::chrono::milliseconds>(so_far * std::min(left, 1e6) / 2);
  return std::clamp(expected, kShortestWait, kMaxWait);
}

}  // namespace

FlsmPilot::FlsmPilot(FlsmStore* store, FlsmController* controller, uint64_t operations)
    : store_(store),
      controller_(controller),
      operations_(std::max<uint64_t>(1, operations)),
      // From now on, not from when the thread begins.
      thread_([this, before = store->Statistics()] { Steer(before); }) {}

FlsmPilot::~FlsmPilot() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

uint64_t FlsmPilot::missions() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return missions_;
}

rocksdb::Status FlsmPilot::LastRefusal() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_refusal_;
}

void FlsmPilot::Steer(FlsmStatistics before) {
  Clock::time_point begun = Clock::now();
  Clock::duration least{};  // that the mission has to last
  std::unique_lock<std::mutex> lock(mutex_);
  auto patience = kShortestWait;
  while (!wake_.wait_for(lock, patience, [this] { return stopping_; })) {
    const FlsmStatistics now = store_->Statistics();
    const Clock::time_point ended = Clock::now();
    const uint64_t done = Operations(now) - Operations(before);
    patience = Patience(done, operations_, ended - begun);
    if (done < operations_ || ended - begun < least) {
      continue;
    }
    FlsmMission mission{++missions_, std::chrono::duration<double>(ended - begun).count(), Since(now, before),
                        store_->Shape()};
    lock.unlock();
    const std::chrono::nanoseconds used = ThreadCpuTime();
    Decide(mission);
    least = kDecisionsShare * (ThreadCpuTime() - used);
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
