#include <rocksdb/options.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "rocktune/flsm/flsm_compactor.h"
#include "rocktune/flsm/flsm_listener.h"
#include "rocktune/flsm/flsm_runs.h"
#include "rocktune/flsm/flsm_shape.h"
#include "rocktune/util/rocksdb_compat.h"

// How an FlsmCompactor does one task: it begins the task with the lock held, compacts without it, and ends
// the task with the lock held again.

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

}  // namespace

struct FlsmCompactor::RunningTask {
  FlsmTask task;
  bool in_pieces = false;
  uint64_t max_bytes = 0;           // of a piece
  FlsmShape begun;                  // the shape with the task begun
  uint64_t begun_number = 0;        // its number for on_change_; 0 if it need not be reported
  uint64_t ingestions = 0;          // ingestions_ when the task began
  std::vector<FlsmTable> reserved;  // all tables of its inputs
  // The members below are set by Do.
  std::vector<FlsmTable> used;  // compacted tables; empty if in pieces
  std::vector<FlsmTable> made;  // new tables; empty if in pieces, or if RocksDB moved the tables
  int pieces = 0;               // pieces that succeeded
  rocksdb::Status status;
};

void FlsmCompactor::RunTask(const FlsmTask& due, std::unique_lock<std::mutex>* lock) {
  RunningTask running = BeginTask(due);
  lock->unlock();
  Do(&running);
  lock->lock();
  EndTask(running);
  const FlsmShape shape = shape_;
  const uint64_t number = ++changes_;
  lock->unlock();
  NotifyAll();
  if (running.status.ok()) {
    // A shape that cannot be written now is written with the next change. After a crash before that, some
    // runs are sealed later than they were.
    on_change_(shape, number).PermitUncheckedError();
  }
  lock->lock();
  --running_;
  NotifyAll();  // a worker that looked before this found no idle task, as something was running
}

FlsmCompactor::RunningTask FlsmCompactor::BeginTask(const FlsmTask& due) {
  RunningTask running;
  running.max_bytes = MaxPieceBytes(shape_, due, max_merge_bytes_);
  running.in_pieces = IsInPieces(due, running.max_bytes);
  running.task = running.in_pieces ? InPlace(shape_, due) : due;
  running.ingestions = ingestions_;
  const int filtered = LevelsToFilter(shape_);
  Begin(&shape_, running.task);
  if (running.in_pieces) {
    shape_.level(running.task.level).in_pieces = true;
  }
  ++running_;
  begun_ns_ = static_cast<uint64_t>(Clock::now().time_since_epoch().count());
  running.reserved = tables_.At(running.task.inputs);
  tables_.Use(running.reserved);
  running.begun = shape_;
  if (running.in_pieces || LevelsToFilter(shape_) > filtered) {
    running.begun_number = ++changes_;
  }
  return running;
}

void FlsmCompactor::Do(RunningTask* running) {
  if (running->begun_number > 0) {
    // Before the task, not after it: its tables must get filters for a tree with this level, and pieces must
    // go on after a crash.
    on_change_(running->begun, running->begun_number).PermitUncheckedError();
  }
  const FlsmTask& task = running->task;
  if (running->in_pieces) {
    running->status = CompactInPieces(task, running->max_bytes, &running->pieces);
    return;
  }
  running->used = task.IsByFiles() ? CheapestTables(task, running->begun, running->reserved, db_, family_)
                                   : running->reserved;
  running->status = Compact(task, running->used, &running->made);
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
  rocksdb::Status status = commits_->CompactFiles(
      db_, family_, CompactionOptionsOf(db_->GetOptions(family_), workers_->cancelling()), names,
      task.output);
  *made = outputs.tables();
  if (status.ok()) {
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
    // Without outputs RocksDB moved the tables, or found no entry left: nothing was read or written.
    recorder_->CountCompaction(task.OutputLevel(), made->empty() ? 0 : Sum(used), Sum(*made),
                               static_cast<uint64_t>(took.count()));
  }
  return status;
}

rocksdb::Status FlsmCompactor::CompactInPieces(const FlsmTask& task, uint64_t max_bytes, int* pieces) {
  for (;;) {
    const std::vector<FlsmTable> used = NextPieceTables(task, max_bytes, db_, family_);
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

void FlsmCompactor::EndTask(const RunningTask& running) {
  const FlsmTask& task = running.task;
  const bool ok = running.status.ok();
  tables_.Release(running.reserved);
  tables_changed_ = tables_changed_ || task.level0_files > 0;
  if (ok) {
    CompleteTask(task, running.used, running.made);
    tables_changed_ = tables_changed_ || tables_.MayHaveDeletedTables();
    failing_ = false;
  } else {
    Abandon(&shape_, task);
    tables_changed_ = must_reload_ = true;
  }
  const bool interrupted = !ok && running.pieces > 0;  // between pieces
  if (running.in_pieces) {
    FlsmLevel& level = shape_.level(task.level);
    level.in_pieces = false;
    level.push = level.push || interrupted;
  }
  if (ingestions_ != running.ingestions || interrupted) {
    ReloadRuns();  // tables ingested meanwhile may lie in the task's runs, or have been merged with them
  }
  if (task.kind == FlsmTask::Kind::kJoinFiles) {
    const uint64_t moved = Sum(running.used) + Sum(running.made);
    reshape_at_ = Clock::now() + std::chrono::microseconds(moved * 1'000'000 / reshape_bytes_per_s_);
  }
  if (!ok && !ended_ && !*workers_->cancelling()) {
    retry_at_[task.IsSmall() ? 1 : 0] = Clock::now() + kRetryDelay;
  }
  // A cancelled task is no failure, nor is one whose family was dropped.
  if (!ok && !ended_ && !*workers_->cancelling() && !running.status.IsColumnFamilyDropped()) {
    failing_ = true;
    failure_ = running.status;
    ++failures_;
  }
}

void FlsmCompactor::CompleteTask(const FlsmTask& task, const std::vector<FlsmTable>& used,
                                 const std::vector<FlsmTable>& made) {
  tables_.Replace(used, task.output, made);
  if (made.empty()) {
    // RocksDB moved the tables, which no event reports, or no entry was left.
    tables_.Read(Metadata(db_, family_));
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

}  // namespace rocktune
