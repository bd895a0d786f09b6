#include "rocktune/flsm/flsm_compactor.h"

#include <rocksdb/metadata.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace rocktune {
namespace {

constexpr std::chrono::milliseconds kAfterFailure{200};

rocksdb::ColumnFamilyMetaData Metadata(rocksdb::DB* db) {
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(&metadata);
  return metadata;
}

rocksdb::CompactionOptions CompactionOptionsOf(const rocksdb::Options& options) {
  rocksdb::CompactionOptions compaction;
  compaction.compression = rocksdb::kDisableCompressionOption;  // the column family's own
  compaction.output_file_size_limit = options.target_file_size_base;
  return compaction;
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

FlsmCompactor::FlsmCompactor(rocksdb::DB* db, FlsmShape shape, int workers, OnChange on_change)
    : db_(db), on_change_(std::move(on_change)), shape_(std::move(shape)) {
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
    if (level < 1 || level > shape_.deepest()) {
      return rocksdb::Status::InvalidArgument("level " + std::to_string(level) + " is not from 1 to " +
                                              std::to_string(shape_.deepest()));
    }
    if (policy < 1 || policy > shape_.size_ratio) {
      return rocksdb::Status::InvalidArgument("policy " + std::to_string(policy) + " is not from 1 to " +
                                              std::to_string(shape_.size_ratio));
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

void FlsmCompactor::Work(bool small_only) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_) {
    RefreshLevel0();
    const std::vector<FlsmTask> due = DueTasks(shape_);
    const auto next = std::find_if(
        due.begin(), due.end(), [small_only](const FlsmTask& task) { return !small_only || IsSmall(task); });
    if (next == due.end()) {
      changed_.wait(lock);
      continue;
    }
    FlsmTask task = *next;
    Begin(&shape_, task);
    ++running_;
    lock.unlock();
    uint64_t written = 0;
    const rocksdb::Status status = Run(&task, &written);
    lock.lock();
    --running_;
    flushed_ = flushed_ || task.level == 0;
    if (status.ok()) {
      Complete(&shape_, task, written);
      last_failure_ = rocksdb::Status::OK();
    } else {
      Abandon(&shape_, task);
    }
    const bool pause = !status.ok() && !ended_;
    if (pause) {
      last_failure_ = status;
    }
    const FlsmShape shape = shape_;
    const uint64_t number = ++changes_;
    changed_.notify_all();
    lock.unlock();
    if (status.ok()) {
      // What could not be kept is kept with the next change; until then runs would be sealed later than now.
      on_change_(shape, number).PermitUncheckedError();
    } else if (pause) {
      std::this_thread::sleep_for(kAfterFailure);
    }
    lock.lock();
  }
}

rocksdb::Status FlsmCompactor::Run(FlsmTask* task, uint64_t* written) {
  const rocksdb::ColumnFamilyMetaData before = Metadata(db_);
  std::vector<std::string> names;
  for (const int physical : task->inputs) {
    for (const rocksdb::SstFileMetaData& file : before.levels[static_cast<std::size_t>(physical)].files) {
      names.push_back(file.name);
    }
  }
  if (names.empty()) {
    return rocksdb::Status::OK();
  }
  rocksdb::Status status = db_->CompactFiles(CompactionOptionsOf(db_->GetOptions()), names, task->output);
  if (status.ok()) {
    *written = Metadata(db_).levels[static_cast<std::size_t>(task->output)].size;
  }
  return status;
}

}  // namespace rocktune
