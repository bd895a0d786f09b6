#include "rocktune/flsm/flsm_compactor.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/flsm/flsm_runs.h"
#include "rocktune/flsm/flsm_shape.h"

namespace rocktune {

FlsmCompactor::FlsmCompactor(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                             std::shared_ptr<FlsmCommits> commits, FlsmRecorder* recorder,
                             FlsmWorkers* workers, FlsmShape shape, uint64_t reshape_bytes_per_s,
                             uint64_t max_merge_bytes, OnChange on_change)
    : db_(db),
      family_(family),
      commits_(std::move(commits)),
      recorder_(recorder),
      workers_(workers),
      reshape_bytes_per_s_(reshape_bytes_per_s),
      max_merge_bytes_(max_merge_bytes),
      on_change_(std::move(on_change)),
      shape_(std::move(shape)),
      reshape_at_(Clock::now() + kIdleDelay) {
  ReadRuns(db_, family_, &shape_);
}

void FlsmCompactor::NotifyAll() {
  changed_.notify_all();
  workers_->Wake();
}

void FlsmCompactor::End() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

void FlsmCompactor::WaitUntilIdle() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return running_ == 0; });
}

rocksdb::Status FlsmCompactor::SetPolicy(int level, int policy, FlsmTransition transition) {
  FlsmShape changed;
  uint64_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    rocksdb::Status status = CheckPolicyChange(shape_, level, policy, transition);
    if (!status.ok()) {
      return status;
    }
    rocktune::SetPolicy(&shape_, level, policy, transition);
    changed = shape_;
    number = ++changes_;
  }
  NotifyAll();
  return on_change_(changed, number);
}

FlsmShape FlsmCompactor::Shape() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return shape_;
}

rocksdb::Status FlsmCompactor::WaitUntilSettled(std::chrono::microseconds timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t failures = failures_;
  const auto is_settled = [this, failures] {
    if (ended_ || failures_ != failures) {
      return true;
    }
    RefreshTables();
    return running_ == 0 && DueTasks(shape_).empty();
  };
  if (timeout.count() == 0) {
    changed_.wait(lock, is_settled);
  } else if (!changed_.wait_for(lock, timeout, is_settled)) {
    return rocksdb::Status::TimedOut("compactions are still due after the timeout");
  }
  if (failures_ != failures) {
    return failure_;
  }
  return ended_ ? rocksdb::Status::ShutdownInProgress("the store was closed") : rocksdb::Status::OK();
}

void FlsmCompactor::SetLimits(uint64_t max_level0_files, uint64_t file_bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    shape_.max_level0_files = max_level0_files;
    shape_.file_bytes = file_bytes;
  }
  NotifyAll();
}

FlsmCompactionDebt FlsmCompactor::Debt() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  FlsmCompactionDebt debt;
  for (const FlsmTask& task : DueTasks(shape_)) {
    ++debt.due_tasks;
    debt.bytes += task.bytes;
  }
  // The shape lacks tables flushed since it was refreshed; they may make a task due.
  debt.due_tasks += tables_changed_ ? 1 : 0;
  debt.running_tasks = static_cast<uint64_t>(running_.load());
  return debt;
}

rocksdb::Status FlsmCompactor::LastFailure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failing_ ? failure_ : rocksdb::Status::OK();
}

void FlsmCompactor::RefreshTables() {
  // While a task uses level 0, the tables still list its inputs, which the shape must not count again.
  if (!tables_changed_ || shape_.level0_busy) {
    return;
  }
  tables_changed_ = false;
  if (std::exchange(must_reload_, false) || tables_.HasDeletedTables()) {
    tables_.Read(Metadata(db_, family_));
    ReadIdleRuns(tables_, &shape_);
  }
  shape_.level0_files = tables_.Count(0);
  shape_.level0_bytes = tables_.Bytes(0);
}

std::optional<FlsmTask> FlsmCompactor::NextTask(bool small_only, Clock::time_point* wake) {
  if (ended_) {
    return std::nullopt;
  }
  RefreshTables();
  const Clock::time_point now = Clock::now();
  for (const FlsmTask& task : DueTasks(shape_)) {
    const Clock::time_point retry_at = retry_at_[task.IsSmall() ? 1 : 0];
    if (small_only && !task.IsSmall()) {
      continue;
    }
    if (now >= retry_at) {
      return task;
    }
    *wake = std::min(*wake, retry_at);
  }
  if (small_only || reshape_bytes_per_s_ == 0 || running_ > 0 || tables_changed_) {
    return std::nullopt;
  }
  std::optional<FlsmTask> idle = IdleTask(shape_);
  if (const Clock::time_point idle_at = std::max({reshape_at_, retry_at_[0], retry_at_[1]});
      idle && now < idle_at) {
    *wake = std::min(*wake, idle_at);
    return std::nullopt;
  }
  return idle;
}

bool FlsmCompactor::RunNext(bool small_only, Clock::time_point* wake) {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::optional<FlsmTask> task = NextTask(small_only, wake);
  if (task) {
    RunTask(*task, &lock);
  }
  return task.has_value();
}

}  // namespace rocktune
