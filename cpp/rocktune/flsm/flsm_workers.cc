#include "rocktune/flsm/flsm_workers.h"

#include <algorithm>
#include <utility>

#include "rocktune/flsm/flsm_compactor.h"

namespace rocktune {

FlsmWorkers::~FlsmWorkers() { Stop(); }

void FlsmWorkers::Add(std::shared_ptr<FlsmCompactor> compactor, int threads) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    compactors_.push_back(std::move(compactor));
    ++wakes_;
    // At least two, or the first thread, which does only small tasks, would leave the others undone.
    while (!ended_ && threads_.size() < static_cast<std::size_t>(std::max(2, threads))) {
      const bool small_only = threads_.empty();
      threads_.emplace_back([this, small_only] { Run(small_only); });
    }
  }
  changed_.notify_all();
}

void FlsmWorkers::Remove(const FlsmCompactor* compactor) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(compactors_, [compactor](const auto& each) { return each.get() == compactor; });
}

void FlsmWorkers::Wake() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++wakes_;
  }
  changed_.notify_all();
}

void FlsmWorkers::Pause(bool cancel) {
  std::unique_lock<std::mutex> lock(mutex_);
  ++paused_;
  const bool cancels = cancel && busy_ > 0;
  if (cancels) {
    cancelling_ = true;
    lock.unlock();
    db_->DisableManualCompaction();  // to RocksDB, CompactFiles is a manual compaction
    lock.lock();
  }
  changed_.wait(lock, [this] { return busy_ == 0; });
  if (cancels) {
    cancelling_ = false;
    lock.unlock();
    db_->EnableManualCompaction();
  }
}

void FlsmWorkers::Continue() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    --paused_;
  }
  changed_.notify_all();
}

void FlsmWorkers::Stop() {
  Pause(true);
  std::vector<std::thread> threads;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    threads.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads) {
    thread.join();
  }
}

bool FlsmWorkers::RunOne(Compactors compactors, bool small_only, Clock::time_point* wake) {
  using Turn = std::pair<FlsmTurn, FlsmCompactor*>;
  std::vector<Turn> turns;  // read once: other threads change them meanwhile
  std::transform(compactors.begin(), compactors.end(), std::back_inserter(turns), [](const auto& each) {
    return Turn{each->CurrentTurn(), each.get()};
  });
  std::stable_sort(turns.begin(), turns.end(),
                   [](const Turn& left, const Turn& right) { return left.first < right.first; });
  return std::any_of(turns.begin(), turns.end(),
                     [small_only, wake](const Turn& each) { return each.second->RunNext(small_only, wake); });
}

void FlsmWorkers::Run(bool small_only) {
  std::unique_lock<std::mutex> lock(mutex_);
  uint64_t seen = 0;
  Clock::time_point wake = Clock::now();
  const auto may_work = [this, &seen, &wake] {
    return ended_ || (paused_ == 0 && (wakes_ != seen || Clock::now() >= wake));
  };
  while (!ended_) {
    if (!may_work()) {
      if (paused_ > 0 || wake == Clock::time_point::max()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, wake);
      }
      continue;
    }
    seen = wakes_;
    wake = Clock::time_point::max();
    ++busy_;
    const Compactors compactors = compactors_;
    lock.unlock();
    if (RunOne(compactors, small_only, &wake)) {
      wake = Clock::now();  // looks for the next task at once
    }
    lock.lock();
    --busy_;
    if (paused_ > 0) {
      changed_.notify_all();
    }
  }
}

}  // namespace rocktune
