#include "rocktune/device/timed_work.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <thread>

#include "rocktune/util/progress.h"

namespace rocktune {
namespace {

using SteadyClock = std::chrono::steady_clock;

double SecondsSince(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

// Calls a function at most once in kProgressInterval.
class Ticker {
 public:
  explicit Ticker(const Elapsed& elapsed) : elapsed_(elapsed) {}
  void Tick() {
    const SteadyClock::time_point now = SteadyClock::now();
    if (now >= next_) {
      elapsed_(std::chrono::duration<double>(now - begin_).count());
      next_ = now + kProgressInterval;
    }
  }

 private:
  const Elapsed& elapsed_;
  const SteadyClock::time_point begin_ = SteadyClock::now();
  SteadyClock::time_point next_ = begin_;
};

// The threads of MeasureRate and what they have done.
class Crew {
 public:
  // Starts a thread for each work. `works` must outlive the crew.
  explicit Crew(const std::vector<TimedWork>& works) {
    for (const TimedWork& work : works) {
      threads_.emplace_back([this, &work](const std::stop_token& stop) { Repeat(work, stop); });
    }
  }

  // Waits until a thread has ended or `duration` has passed. Returns true if a thread has ended.
  bool WaitForEnd(std::chrono::milliseconds duration) {
    std::unique_lock<std::mutex> lock(mutex_);
    return ended_.wait_for(lock, duration, [this] { return has_ended_; });
  }

  // Returns the amount of all steps that have ended.
  uint64_t amount() const { return amount_.load(); }

  // Ends all threads after their present steps. Returns the first status that is not OK.
  rocksdb::IOStatus End() {
    for (std::jthread& thread : threads_) {
      thread.request_stop();
    }
    threads_.clear();  // joins them
    return failure_;
  }

 private:
  void Repeat(const TimedWork& work, const std::stop_token& stop) {
    rocksdb::IOStatus status;
    uint64_t steps = 0;
    do {
      status = work.step();
      if (status.ok()) {
        ++steps;
        amount_ += work.step_amount;
      }
    } while (status.ok() && !stop.stop_requested() && (work.max_steps == 0 || steps < work.max_steps));
    std::lock_guard<std::mutex> lock(mutex_);
    if (!status.ok() && failure_.ok()) {
      failure_ = status;
    }
    has_ended_ = true;
    ended_.notify_all();
  }

  std::atomic<uint64_t> amount_{0};
  std::mutex mutex_;  // guards the next three members
  std::condition_variable ended_;
  bool has_ended_ = false;
  rocksdb::IOStatus failure_;
  std::vector<std::jthread> threads_;  // last, because the threads use all members above
};

}  // namespace

rocksdb::IOStatus MeasureRate(const std::vector<TimedWork>& works, double seconds, const Elapsed& elapsed,
                              double* amount_per_s) {
  constexpr std::chrono::milliseconds kPoll{20};
  Ticker ticker(elapsed);
  const SteadyClock::time_point begin = SteadyClock::now();
  Crew crew(works);
  while (!crew.WaitForEnd(kPoll) && SecondsSince(begin) < seconds) {
    ticker.Tick();
  }
  rocksdb::IOStatus status = crew.End();
  // Until the last step has ended: counting up to an earlier time would leave out the parts of requests that
  // the device has already served. Large requests that are served in turns all end at about the same time.
  *amount_per_s = static_cast<double>(crew.amount()) / SecondsSince(begin);
  return status;
}

rocksdb::IOStatus MeasureMedian(const TimedWork& work, double seconds, const Elapsed& elapsed,
                                double* median_us) {
  Ticker ticker(elapsed);
  std::vector<double> durations_us;
  const SteadyClock::time_point started = SteadyClock::now();
  do {
    const SteadyClock::time_point begin = SteadyClock::now();
    rocksdb::IOStatus status = work.step();
    if (!status.ok()) {
      return status;
    }
    durations_us.push_back(SecondsSince(begin) * 1e6);
    ticker.Tick();
  } while (SecondsSince(started) < seconds && (work.max_steps == 0 || durations_us.size() < work.max_steps));
  const auto middle = durations_us.begin() + static_cast<std::ptrdiff_t>(durations_us.size() / 2);
  std::nth_element(durations_us.begin(), middle, durations_us.end());
  *median_us = *middle;
  return rocksdb::IOStatus::OK();
}

}  // namespace rocktune
