#include "rocktune/flsm/flsm_compactor.h"

#include <rocksdb/options.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <numeric>
#include <utility>

#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/flsm/flsm_listener.h"
#include "rocktune/flsm/flsm_runs.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr std::chrono::milliseconds kRetryDelay{200};

rocksdb::CompactionOptions CompactionOptionsOf(const rocksdb::Options& options, std::atomic<bool>* stopping) {
  rocksdb::CompactionOptions compaction;
  EnableTrivialMoveAndCancel(stopping, &compaction);
  compaction.compression = rocksdb::kDisableCompressionOption;  // means: as the column family says
  compaction.output_file_size_limit = options.target_file_size_base;
  return compaction;
}

uint64_t Sum(const std::vector<FlsmTable>& tables) {
  return std::accumulate(tables.begin(), tables.end(), uint64_t{0},
                         [](uint64_t bytes, const FlsmTable& table) { return bytes + table.bytes; });
}

// True for tasks of the first thread, which must stay short: level 0 waits for them.
bool IsSmall(const FlsmTask& task) { return task.level <= 1 && task.kind != FlsmTask::Kind::kMoveDown; }

}  // namespace

FlsmCompactor::FlsmCompactor(rocksdb::DB* db, std::shared_ptr<ManifestGuard> guard, FlsmRecorder* recorder,
                             FlsmShape shape, int workers, uint64_t reshape_bytes_per_s, OnChange on_change)
    : db_(db),
      guard_(std::move(guard)),
      recorder_(recorder),
      reshape_bytes_per_s_(reshape_bytes_per_s),
      on_change_(std::move(on_change)),
      shape_(std::move(shape)),
      reshape_at_(Clock::now() + kIdleDelay) {
  ReadRuns(db_, &shape_);
  // At least two, or the first thread, which does only small tasks, would leave the others undone.
  for (int worker = 0; worker < std::max(2, workers); ++worker) {
    threads_.emplace_back([this, worker] { RunTasks(worker == 0); });
  }
}

FlsmCompactor::~FlsmCompactor() { Stop(); }

void FlsmCompactor::Pause(bool cancel) {
  std::unique_lock<std::mutex> lock(mutex_);
  ++paused_;
  const bool cancels = cancel && running_ > 0;
  if (cancels) {
    cancelling_ = true;
    lock.unlock();
    db_->DisableManualCompaction();  // to RocksDB, CompactFiles is a manual compaction
    lock.lock();
  }
  changed_.wait(lock, [this] { return running_ == 0; });
  if (cancels) {
    cancelling_ = false;
    lock.unlock();
    db_->EnableManualCompaction();
  }
}

void FlsmCompactor::Continue() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    --paused_;
  }
  changed_.notify_all();
}

void FlsmCompactor::Stop() {
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
  changed_.notify_all();
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
  changed_.notify_all();
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
  debt.running_tasks = static_cast<uint64_t>(running_);
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
    tables_.Read(Metadata(db_));
    ReadIdleRuns(tables_, &shape_);
  }
  shape_.level0_files = tables_.Count(0);
  shape_.level0_bytes = tables_.Bytes(0);
}

void FlsmCompactor::CompleteTask(const FlsmTask& task, const std::vector<FlsmTable>& used,
                                 const std::vector<FlsmTable>& made) {
  tables_.Replace(used, task.output, made);
  if (made.empty()) {
    tables_.Read(Metadata(db_));  // RocksDB moved the tables, which no event reports, or no entry was left
  }
  if (!task.IsByFiles()) {
    Complete(&shape_, task, tables_.Bytes(task.output));
    return;
  }
  std::vector<FlsmRun> runs;
  std::vector<int> levels = task.inputs;
  levels.push_back(task.output);
  for (const int physical : levels) {
    if (const uint64_t bytes = tables_.Bytes(physical); bytes > 0) {
      runs.push_back({physical, bytes, false, RunUse::kIdle});
    }
  }
  CompleteFiles(&shape_, task, runs);
}

std::optional<FlsmTask> FlsmCompactor::NextTask(bool small_only, Clock::time_point* wake) {
  *wake = Clock::time_point::max();
  if (paused_ > 0) {
    return std::nullopt;
  }
  RefreshTables();
  const std::vector<FlsmTask> due = DueTasks(shape_);
  const auto next = std::find_if(due.begin(), due.end(),
                                 [small_only](const FlsmTask& task) { return !small_only || IsSmall(task); });
  if (next != due.end()) {
    return *next;
  }
  if (small_only || reshape_bytes_per_s_ == 0 || running_ > 0 || tables_changed_) {
    return std::nullopt;
  }
  std::optional<FlsmTask> idle = IdleTask(shape_);
  if (idle && Clock::now() < reshape_at_) {
    *wake = reshape_at_;
    return std::nullopt;
  }
  return idle;
}

void FlsmCompactor::RunTasks(bool small_only) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_) {
    Clock::time_point wake;
    const std::optional<FlsmTask> task = NextTask(small_only, &wake);
    if (task) {
      RunTask(*task, &lock);
    } else if (wake == Clock::time_point::max()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, wake);
    }
  }
}

rocksdb::Status FlsmCompactor::Compact(const FlsmTask& task, const std::vector<FlsmTable>& used,
                                       std::vector<FlsmTable>* made) {
  if (used.empty()) {
    return rocksdb::Status::OK();
  }
  std::vector<std::string> names;
  std::transform(used.begin(), used.end(), std::back_inserter(names),
                 [](const FlsmTable& table) { return TableName(table.number); });
  const FlsmRecorder::ScopedMerge merge(recorder_);
  const CompactionOutputs outputs;
  const Clock::time_point begun = Clock::now();
  rocksdb::Status status =
      guard_->CompactFiles(db_, db_->DefaultColumnFamily(),
                           CompactionOptionsOf(db_->GetOptions(), &cancelling_), names, task.output, nullptr);
  *made = outputs.tables();
  if (status.ok()) {
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
    // Without outputs RocksDB moved the tables, or found no entry left: nothing was read or written.
    recorder_->CountCompaction(task.OutputLevel(), made->empty() ? 0 : Sum(used), Sum(*made),
                               static_cast<uint64_t>(took.count()));
  }
  return status;
}

void FlsmCompactor::RunTask(const FlsmTask& task, std::unique_lock<std::mutex>* lock) {
  const int filtered = LevelsToFilter(shape_);
  const uint64_t ingestions = ingestions_;
  Begin(&shape_, task);
  ++running_;
  std::vector<FlsmTable> used = tables_.At(task.inputs);
  const std::vector<FlsmTable> reserved = used;
  tables_.Use(reserved);
  const FlsmShape begun = shape_;
  const bool deeper = LevelsToFilter(begun) > filtered;
  const uint64_t number_at_begin = deeper ? ++changes_ : 0;
  lock->unlock();
  if (deeper) {
    // Before the task, not after it: its tables must get filters for a tree with this level.
    on_change_(begun, number_at_begin).PermitUncheckedError();
  }
  if (task.IsByFiles()) {
    used = CheapestTables(task, begun, used, db_);
  }
  std::vector<FlsmTable> made;
  const rocksdb::Status status = Compact(task, used, &made);
  lock->lock();
  --running_;
  tables_.Release(reserved);
  tables_changed_ = tables_changed_ || task.level0_files > 0;
  const bool failed = !status.ok() && !cancelling_;  // a cancelled task is no failure
  if (status.ok()) {
    CompleteTask(task, used, made);
    tables_changed_ = tables_changed_ || tables_.MayHaveDeletedTables();
    failing_ = false;
  } else {
    Abandon(&shape_, task);
    tables_changed_ = must_reload_ = true;
  }
  if (ingestions_ != ingestions) {
    ReloadRuns();  // tables ingested meanwhile may lie in the task's runs, or have been merged with them
  }
  if (task.kind == FlsmTask::Kind::kJoinFiles) {
    const uint64_t moved = Sum(used) + Sum(made);
    reshape_at_ = Clock::now() + std::chrono::microseconds(moved * 1'000'000 / reshape_bytes_per_s_);
  }
  if (failed) {
    failing_ = true;
    failure_ = status;
    ++failures_;
  }
  const FlsmShape shape = shape_;
  const uint64_t number = ++changes_;
  changed_.notify_all();
  lock->unlock();
  if (status.ok()) {
    // A shape that cannot be written now is written with the next change. After a crash before that, some
    // runs are sealed later than they were.
    on_change_(shape, number).PermitUncheckedError();
  } else if (failed) {
    std::this_thread::sleep_for(kRetryDelay);
  }
  lock->lock();
}

}  // namespace rocktune
