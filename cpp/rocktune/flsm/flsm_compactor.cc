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
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr std::chrono::milliseconds kAfterFailure{200};
constexpr std::chrono::seconds kQuiet{1};  // since the last flush, before a store counts as not written to

rocksdb::CompactionOptions CompactionOptionsOf(const rocksdb::Options& options, std::atomic<bool>* stopping) {
  rocksdb::CompactionOptions compaction;
  EnableTrivialMoveAndCancel(stopping, &compaction);
  compaction.compression = rocksdb::kDisableCompressionOption;  // the column family's own
  compaction.output_file_size_limit = options.target_file_size_base;
  return compaction;
}

uint64_t Sum(const std::vector<FlsmTable>& tables) {
  return std::accumulate(tables.begin(), tables.end(), uint64_t{0},
                         [](uint64_t bytes, const FlsmTable& table) { return bytes + table.bytes; });
}

bool IsSmall(const FlsmTask& task) { return task.level <= 1 && task.kind != FlsmTask::Kind::kRehome; }

}  // namespace

FlsmCompactor::FlsmCompactor(rocksdb::DB* db, std::shared_ptr<ManifestGuard> guard, FlsmRecorder* recorder,
                             FlsmShape shape, int workers, uint64_t reshape_bytes_per_s, OnChange on_change)
    : db_(db),
      guard_(std::move(guard)),
      recorder_(recorder),
      reshape_bytes_per_s_(reshape_bytes_per_s),
      on_change_(std::move(on_change)),
      shape_(std::move(shape)),
      reshape_at_(Clock::now() + kQuiet) {
  ReadRuns(db_, &shape_);
  for (int worker = 0; worker < std::max(2, workers); ++worker) {
    threads_.emplace_back([this, worker] { Work(worker == 0); });
  }
}

FlsmCompactor::~FlsmCompactor() { Stop(); }

void FlsmCompactor::Pause(bool calls_off) {
  std::unique_lock<std::mutex> lock(mutex_);
  ++paused_;
  const bool in_the_way = calls_off && running_ > 0;
  if (in_the_way) {
    stopping_ = true;
    lock.unlock();
    db_->DisableManualCompaction();  // which is what those in work are to RocksDB
    lock.lock();
  }
  changed_.wait(lock, [this] { return running_ == 0; });
  if (in_the_way) {
    stopping_ = false;
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
  std::vector<std::thread> ending;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    ending.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : ending) {
    thread.join();
  }
}

rocksdb::Status FlsmCompactor::SetPolicy(int level, int policy, FlsmTransition transition) {
  FlsmShape changed;
  uint64_t number = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    rocksdb::Status status = CheckChange(shape_, level, policy, transition);
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
  const auto is_over = [this, failures] {
    if (ended_ || failures_ != failures) {
      return true;
    }
    RefreshTables();
    return running_ == 0 && DueTasks(shape_).empty();
  };
  if (timeout.count() == 0) {
    changed_.wait(lock, is_over);
  } else if (!changed_.wait_for(lock, timeout, is_over)) {
    return rocksdb::Status::TimedOut("compactions are due");
  }
  if (failures_ != failures) {
    return failure_;
  }
  return ended_ ? rocksdb::Status::ShutdownInProgress("the store is closed") : rocksdb::Status::OK();
}

void FlsmCompactor::SetLimits(uint64_t max_level0_files, uint64_t file_bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    shape_.max_level0_files = max_level0_files;
    shape_.file_bytes = file_bytes;
  }
  changed_.notify_all();
}

FlsmOwed FlsmCompactor::Owed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  FlsmOwed owed;
  for (const FlsmTask& task : DueTasks(shape_)) {
    ++owed.due_tasks;
    owed.bytes += task.bytes;
  }
  // What was flushed since is not in the shape yet.
  owed.due_tasks += flushed_ ? 1 : 0;
  owed.running_tasks = static_cast<uint64_t>(running_);
  return owed;
}

rocksdb::Status FlsmCompactor::LastFailure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return fails_ ? failure_ : rocksdb::Status::OK();
}

void FlsmCompactor::OnFlushed(const FlsmTable& table) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tables_.AddFlushed(table);
    flushed_ = true;
    reshape_at_ = std::max(reshape_at_, Clock::now() + kQuiet);
  }
  changed_.notify_all();
}

void FlsmCompactor::OnMissedFlushes() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    flushed_ = reload_ = true;
  }
  changed_.notify_all();
}

void FlsmCompactor::OnDeleted(uint64_t number) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!tables_.NoteDeleted(number)) {
      return;
    }
    flushed_ = true;
  }
  changed_.notify_all();
}

void FlsmCompactor::RefreshTables() {
  if (!flushed_ || shape_.level0_busy) {
    return;
  }
  flushed_ = false;
  if (std::exchange(reload_, false) || tables_.LacksFiles()) {
    tables_.Read(Metadata(db_));
    ReadIdleRuns(tables_, &shape_);
  }
  shape_.level0_files = tables_.Count(0);
  shape_.level0_bytes = tables_.Bytes(0);
}

void FlsmCompactor::End(const FlsmTask& task, const std::vector<FlsmTable>& used,
                        const std::vector<FlsmTable>& made) {
  tables_.Replace(used, task.output, made);
  if (made.empty()) {
    tables_.Read(Metadata(db_));  // moved, or nothing is left
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

std::optional<FlsmTask> FlsmCompactor::Next(bool small_only, Clock::time_point* wake) {
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
  if (small_only || reshape_bytes_per_s_ == 0 || running_ > 0 || flushed_) {
    return std::nullopt;
  }
  std::optional<FlsmTask> idle = IdleTask(shape_);
  if (idle && Clock::now() < reshape_at_) {
    *wake = reshape_at_;
    return std::nullopt;
  }
  return idle;
}

void FlsmCompactor::Work(bool small_only) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_) {
    Clock::time_point wake;
    const std::optional<FlsmTask> task = Next(small_only, &wake);
    if (task) {
      Do(*task, &lock);
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
  const FlsmRecorder::Merge merge(recorder_);
  const MadeTables making;
  const Clock::time_point begun = Clock::now();
  rocksdb::Status status =
      guard_->CompactFiles(db_, db_->DefaultColumnFamily(),
                           CompactionOptionsOf(db_->GetOptions(), &stopping_), names, task.output, nullptr);
  *made = making.tables();
  if (status.ok()) {
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
    // What makes nothing has moved tables as they are, or found nothing that is still there.
    recorder_->CountCompaction(task.OutputLevel(), made->empty() ? 0 : Sum(used), Sum(*made),
                               static_cast<uint64_t>(took.count()));
  }
  return status;
}

void FlsmCompactor::Do(const FlsmTask& task, std::unique_lock<std::mutex>* lock) {
  const int in_use = shape_.LevelsInUse();
  Begin(&shape_, task);
  ++running_;
  std::vector<FlsmTable> used = tables_.At(task.inputs);
  const std::vector<FlsmTable> at_its_levels = used;
  tables_.Use(at_its_levels);
  const FlsmShape begun = shape_;
  const bool deeper = begun.LevelsInUse() > in_use;
  const uint64_t beginning = deeper ? ++changes_ : 0;
  lock->unlock();
  if (deeper) {
    // Now, not when it has ended: what is written meanwhile is filtered for a tree of so many levels.
    on_change_(begun, beginning).PermitUncheckedError();
  }
  if (task.IsByFiles()) {
    used = CheapestOf(task, begun, used, db_);
  }
  std::vector<FlsmTable> made;
  const rocksdb::Status status = Compact(task, used, &made);
  lock->lock();
  --running_;
  tables_.Release(at_its_levels);
  flushed_ = flushed_ || task.level0_files > 0;
  const bool failed = !status.ok() && !stopping_;  // what is called off has not failed
  if (status.ok()) {
    End(task, used, made);
    flushed_ = flushed_ || tables_.MayLackFiles();
    fails_ = false;
  } else {
    Abandon(&shape_, task);
    flushed_ = reload_ = true;
  }
  if (task.kind == FlsmTask::Kind::kJoinFiles) {
    const uint64_t moved = Sum(used) + Sum(made);
    reshape_at_ = Clock::now() + std::chrono::microseconds(moved * 1'000'000 / reshape_bytes_per_s_);
  }
  if (failed) {
    fails_ = true;
    failure_ = status;
    ++failures_;
  }
  const FlsmShape shape = shape_;
  const uint64_t number = ++changes_;
  changed_.notify_all();
  lock->unlock();
  if (status.ok()) {
    // What could not be kept is kept with the next change; until then runs would be sealed later than now.
    on_change_(shape, number).PermitUncheckedError();
  } else if (failed) {
    std::this_thread::sleep_for(kAfterFailure);
  }
  lock->lock();
}

}  // namespace rocktune
