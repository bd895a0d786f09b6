#include "rocktune/flsm/flsm_compactor.h"

#include <rocksdb/metadata.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "rocktune/flsm/flsm_files.h"
#include "rocktune/flsm/flsm_layout.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr std::chrono::milliseconds kAfterFailure{200};
constexpr std::chrono::seconds kQuiet{1};  // since the last flush, before a store counts as not written to

rocksdb::ColumnFamilyMetaData Metadata(rocksdb::DB* db) {
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(&metadata);
  return metadata;
}

rocksdb::CompactionOptions CompactionOptionsOf(const rocksdb::Options& options, std::atomic<bool>* stopping) {
  rocksdb::CompactionOptions compaction;
  AllowMovesAndCancelling(stopping, &compaction);
  compaction.compression = rocksdb::kDisableCompressionOption;  // the column family's own
  compaction.output_file_size_limit = options.target_file_size_base;
  return compaction;
}

// The tables of one of the levels that a task uses.
FlsmRunFiles FilesOf(const rocksdb::ColumnFamilyMetaData& metadata, const FlsmShape& shape, int physical) {
  FlsmRunFiles run;
  for (const rocksdb::SstFileMetaData& file : metadata.levels[static_cast<std::size_t>(physical)].files) {
    run.files.push_back({file.name, file.size, file.smallestkey, file.largestkey});
  }
  for (const FlsmLevel& level : shape.levels) {
    for (const FlsmRun& each : level.runs) {
      run.sealed = run.sealed || (each.physical == physical && each.sealed);
    }
  }
  return run;
}

// The names of the tables that a task compacts. Nothing else touches its runs meanwhile.
std::vector<std::string> NamesFor(const FlsmTask& task, const FlsmShape& shape, rocksdb::DB* db) {
  const rocksdb::ColumnFamilyMetaData metadata = Metadata(db);
  std::vector<FlsmRunFiles> from;
  std::vector<FlsmRunFiles> into;
  std::vector<std::string> all;
  for (const int physical : task.inputs) {
    const FlsmRunFiles run = FilesOf(metadata, shape, physical);
    for (const FlsmFile& file : run.files) {
      all.push_back(file.name);
    }
    const bool below = task.kind == FlsmTask::Kind::kJoinFiles
                           ? physical == task.output
                           : task.level < shape.deepest() && physical >= shape.FirstSlot(task.level + 1);
    (below ? into : from).push_back(run);
  }
  return task.IsByFiles() ? CheapestPush(from, into, db->GetOptions().comparator).names : all;
}

// What the runs that a task used hold now.
std::vector<FlsmRun> RunsAfter(const FlsmTask& task, rocksdb::DB* db) {
  const rocksdb::ColumnFamilyMetaData metadata = Metadata(db);
  std::vector<int> levels = task.inputs;
  levels.push_back(task.output);
  std::vector<FlsmRun> runs;
  for (const int physical : levels) {
    if (const uint64_t bytes = metadata.levels[static_cast<std::size_t>(physical)].size; bytes > 0) {
      runs.push_back({physical, bytes, false, RunUse::kIdle});
    }
  }
  return runs;
}

bool IsSmall(const FlsmTask& task) { return task.level <= 1 && task.kind != FlsmTask::Kind::kRehome; }

}  // namespace

void ReadRuns(rocksdb::DB* db, FlsmShape* shape) {
  const rocksdb::ColumnFamilyMetaData metadata = Metadata(db);
  shape->level0_files = metadata.levels.front().files.size();
  shape->level0_bytes = metadata.levels.front().size;
  for (int number = 1; number <= shape->deepest(); ++number) {
    FlsmLevel& level = shape->level(number);
    std::vector<FlsmRun> runs;
    for (int physical = shape->FirstSlot(number); physical <= shape->LastSlot(number); ++physical) {
      const rocksdb::LevelMetaData& found = metadata.levels[static_cast<std::size_t>(physical)];
      if (found.files.empty()) {
        continue;
      }
      const auto known = std::find_if(level.runs.begin(), level.runs.end(),
                                      [physical](const FlsmRun& run) { return run.physical == physical; });
      runs.push_back({physical, found.size, known != level.runs.end() && known->sealed, RunUse::kIdle});
    }
    level.runs = std::move(runs);
  }
}

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

void FlsmCompactor::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (ended_) {
      return;
    }
    ended_ = true;
  }
  changed_.notify_all();
  stopping_ = true;
  db_->DisableManualCompaction();  // which is what those in work are to RocksDB
  for (std::thread& thread : threads_) {
    thread.join();
  }
  db_->EnableManualCompaction();
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

void FlsmCompactor::WaitUntilSettled() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] {
    RefreshLevel0();
    return ended_ || (running_ == 0 && DueTasks(shape_).empty());
  });
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
  return last_failure_;
}

void FlsmCompactor::OnFlushed() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    flushed_ = true;
    reshape_at_ = std::max(reshape_at_, Clock::now() + kQuiet);
  }
  changed_.notify_all();
}

void FlsmCompactor::RefreshLevel0() {
  if (!flushed_ || shape_.level0_busy) {
    return;
  }
  flushed_ = false;
  const rocksdb::ColumnFamilyMetaData metadata = Metadata(db_);
  shape_.level0_files = metadata.levels.front().files.size();
  shape_.level0_bytes = metadata.levels.front().size;
}

void FlsmCompactor::End(const FlsmTask& task, const std::vector<FlsmRun>& runs) {
  if (task.IsByFiles()) {
    CompleteFiles(&shape_, task, runs);
    return;
  }
  const auto output = std::find_if(runs.begin(), runs.end(),
                                   [&task](const FlsmRun& run) { return run.physical == task.output; });
  Complete(&shape_, task, output == runs.end() ? 0 : output->bytes);
}

std::optional<FlsmTask> FlsmCompactor::Next(bool small_only, Clock::time_point* wake) {
  RefreshLevel0();
  *wake = Clock::time_point::max();
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

rocksdb::Status FlsmCompactor::Compact(const FlsmTask& task, const FlsmShape& shape, uint64_t* moved) {
  const std::vector<std::string> names = NamesFor(task, shape, db_);
  if (names.empty()) {
    return rocksdb::Status::OK();
  }
  rocksdb::CompactionJobInfo done;
  rocksdb::Status status =
      guard_->CompactFiles(db_, db_->DefaultColumnFamily(),
                           CompactionOptionsOf(db_->GetOptions(), &stopping_), names, task.output, &done);
  if (status.ok()) {
    recorder_->CountCompaction(task.OutputLevel(), done.stats);
    *moved += done.stats.total_input_bytes + done.stats.total_output_bytes;
  }
  return status;
}

void FlsmCompactor::Do(const FlsmTask& task, std::unique_lock<std::mutex>* lock) {
  Begin(&shape_, task);
  ++running_;
  const FlsmShape begun = shape_;
  lock->unlock();
  uint64_t moved = 0;
  const rocksdb::Status status = Compact(task, begun, &moved);
  const std::vector<FlsmRun> runs = status.ok() ? RunsAfter(task, db_) : std::vector<FlsmRun>();
  lock->lock();
  --running_;
  flushed_ = flushed_ || task.level == 0;
  if (status.ok()) {
    End(task, runs);
    last_failure_ = rocksdb::Status::OK();
  } else {
    Abandon(&shape_, task);
  }
  if (task.kind == FlsmTask::Kind::kJoinFiles) {
    reshape_at_ = Clock::now() + std::chrono::microseconds(moved * 1'000'000 / reshape_bytes_per_s_);
  }
  const bool pause = !status.ok() && !ended_;
  if (pause) {
    last_failure_ = status;
  }
  const FlsmShape shape = shape_;
  const uint64_t number = ++changes_;
  changed_.notify_all();
  lock->unlock();
  if (status.ok()) {
    // What could not be kept is kept with the next change; until then runs would be sealed later than now.
    on_change_(shape, number).PermitUncheckedError();
  } else if (pause) {
    std::this_thread::sleep_for(kAfterFailure);
  }
  lock->lock();
}

}  // namespace rocktune
