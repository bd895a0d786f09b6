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

FlsmCompactor::FlsmCompactor(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                             std::shared_ptr<ManifestGuard> guard, FlsmRecorder* recorder,
                             FlsmWorkers* workers, FlsmShape shape, uint64_t reshape_bytes_per_s,
                             uint64_t max_merge_bytes, OnChange on_change)
    : db_(db),
      family_(family),
      guard_(std::move(guard)),
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

void FlsmCompactor::Resume() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = false;
  }
  NotifyAll();
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

void FlsmCompactor::CompleteTask(const FlsmTask& task, const std::vector<FlsmTable>& used,
                                 const std::vector<FlsmTable>& made) {
  tables_.Replace(used, task.output, made);
  if (made.empty()) {
    tables_.Read(
        Metadata(db_, family_));  // RocksDB moved the tables, which no event reports, or no entry was left
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
  if (ended_) {
    return std::nullopt;
  }
  RefreshTables();
  const Clock::time_point now = Clock::now();
  for (const FlsmTask& task : DueTasks(shape_)) {
    const Clock::time_point retry_at = retry_at_[IsSmall(task) ? 1 : 0];
    if (small_only && !IsSmall(task)) {
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
  rocksdb::Status status = guard_->CompactFiles(
      db_, family_, CompactionOptionsOf(db_->GetOptions(family_), workers_->cancelling()), names, task.output,
      nullptr);
  *made = outputs.tables();
  if (status.ok()) {
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
    // Without outputs RocksDB moved the tables, or found no entry left: nothing was read or written.
    recorder_->CountCompaction(task.OutputLevel(), made->empty() ? 0 : Sum(used), Sum(*made),
                               static_cast<uint64_t>(took.count()));
  }
  return status;
}

rocksdb::Status FlsmCompactor::CompactInPieces(const FlsmTask& task, int* pieces) {
  for (;;) {
    const std::vector<FlsmTable> used = NextPieceTables(task, max_merge_bytes_, db_, family_);
    if (used.empty()) {
      return rocksdb::Status::OK();
    }
    std::vector<FlsmTable> made;
    rocksdb::Status status = *workers_->cancelling() ? rocksdb::Status::Incomplete("compactions are paused")
                                                     : Compact(task, used, &made);
    if (!status.ok()) {
      return status;
    }
    ++*pieces;
  }
}

void FlsmCompactor::RunTask(const FlsmTask& due, std::unique_lock<std::mutex>* lock) {
  const bool in_pieces = IsInPieces(due, max_merge_bytes_);
  const FlsmTask task = in_pieces ? InPlace(shape_, due) : due;
  const int filtered = LevelsToFilter(shape_);
  const uint64_t ingestions = ingestions_;
  Begin(&shape_, task);
  if (in_pieces) {
    shape_.level(task.level).in_pieces = true;
  }
  ++running_;
  begun_ns_ = static_cast<uint64_t>(Clock::now().time_since_epoch().count());
  std::vector<FlsmTable> used = tables_.At(task.inputs);
  const std::vector<FlsmTable> reserved = used;
  tables_.Use(reserved);
  const FlsmShape begun = shape_;
  const bool deeper = LevelsToFilter(begun) > filtered;
  const uint64_t number_at_begin = deeper || in_pieces ? ++changes_ : 0;
  lock->unlock();
  if (deeper || in_pieces) {
    // Before the task, not after it: its tables must get filters for a tree with this level, and pieces must
    // go on after a crash.
    on_change_(begun, number_at_begin).PermitUncheckedError();
  }
  if (task.IsByFiles()) {
    used = CheapestTables(task, begun, used, db_, family_);
  }
  std::vector<FlsmTable> made;
  int pieces = 0;
  const rocksdb::Status status = in_pieces ? CompactInPieces(task, &pieces) : Compact(task, used, &made);
  if (in_pieces) {
    used.clear();  // CompleteTask then reads all tables
  }
  lock->lock();
  tables_.Release(reserved);
  tables_changed_ = tables_changed_ || task.level0_files > 0;
  // A cancelled task is no failure, nor is one whose family was dropped.
  const bool failed = !status.ok() && !ended_ && !*workers_->cancelling();
  if (status.ok()) {
    CompleteTask(task, used, made);
    tables_changed_ = tables_changed_ || tables_.MayHaveDeletedTables();
    failing_ = false;
  } else {
    Abandon(&shape_, task);
    tables_changed_ = must_reload_ = true;
  }
  if (in_pieces) {
    FlsmLevel& level = shape_.level(task.level);
    level.in_pieces = false;
    level.push = level.push || (!status.ok() && pieces > 0);
  }
  if (ingestions_ != ingestions || (!status.ok() && pieces > 0)) {
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
    retry_at_[IsSmall(task) ? 1 : 0] = Clock::now() + kRetryDelay;
  }
  const FlsmShape shape = shape_;
  const uint64_t number = ++changes_;
  lock->unlock();
  NotifyAll();
  if (status.ok()) {
    // A shape that cannot be written now is written with the next change. After a crash before that, some
    // runs are sealed later than they were.
    on_change_(shape, number).PermitUncheckedError();
  }
  lock->lock();
  --running_;
  NotifyAll();  // a worker that looked before this found no idle task, as something was running
}

}  // namespace rocktune
