#include "rocktune/flsm/flsm_commits.h"

#include <chrono>
#include <cstdint>
#include <utility>

#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// Time between two looks at the running flushes, of whose end RocksDB sends no event if they fail.
constexpr std::chrono::milliseconds kFlushPoll{1};

}  // namespace

bool HasRunningFlushes(rocksdb::DB* db) {
  uint64_t flushes = 0;
  return db->GetIntProperty(rocksdb::DB::Properties::kNumRunningFlushes, &flushes) && flushes > 0;
}

class FlsmCommits::Commit {
 public:
  Commit(FlsmCommits* commits, rocksdb::DB* db, uint32_t family)
      : commits_(commits), db_(db), family_(family) {
    current = this;
    if (HasTrivialMove() && commits_->BeginMove(family_)) {
      may_move_ = true;
      Begin();  // a move sends no events
    }
  }
  ~Commit() {
    current = nullptr;
    End();
  }
  Commit(const Commit&) = delete;
  Commit& operator=(const Commit&) = delete;

  bool may_move() const { return may_move_; }
  void Begin() {
    if (!has_begun_) {
      is_alone_ = commits_->Begin(db_);
      has_begun_ = true;
    }
  }
  void End() {
    if (std::exchange(has_begun_, false)) {
      commits_->End(is_alone_);
    }
    if (std::exchange(may_move_, false)) {
      commits_->EndMove(family_);
    }
  }

  // The compaction of the calling thread, or null.
  static constinit thread_local Commit* current;

 private:
  FlsmCommits* const commits_;
  rocksdb::DB* const db_;
  const uint32_t family_;
  bool may_move_ = false;
  bool has_begun_ = false;
  bool is_alone_ = false;
};

constinit thread_local FlsmCommits::Commit* FlsmCommits::Commit::current = nullptr;

rocksdb::Status FlsmCommits::CompactFiles(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                                          const rocksdb::CompactionOptions& options,
                                          const std::vector<std::string>& names, int output_level) {
  const Commit commit(this, db, family->GetID());
  rocksdb::CompactionOptions allowed = options;
  if (!commit.may_move()) {
    DisableTrivialMove(&allowed);
  }
  return guard_->CompactFiles(db, family, allowed, names, output_level, nullptr);
}

bool FlsmCommits::Begin(rocksdb::DB* db) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return phase_ != Phase::kIngestionWaits && !is_alone_; });
    if (phase_ == Phase::kNoIngestion) {
      ++commits_;
      return false;
    }
    // Before the look at the flushes: one that begins after it finds this and waits.
    is_alone_ = true;
    ++commits_;
    lock.unlock();
    const bool has_flushes = HasRunningFlushes(db);
    lock.lock();
    if (!has_flushes) {
      return true;
    }
    // A flush that has begun may wait for this compaction, which must not wait for the flush.
    is_alone_ = false;
    --commits_;
    changed_.notify_all();
    changed_.wait_for(lock, kFlushPoll);
  }
}

void FlsmCommits::End(bool is_alone) {
  const std::lock_guard<std::mutex> lock(mutex_);
  --commits_;
  is_alone_ = is_alone_ && !is_alone;
  changed_.notify_all();
}

bool FlsmCommits::BeginMove(uint32_t family) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (dropped_.contains(family)) {
    return false;
  }
  ++moves_[family];
  return true;
}

void FlsmCommits::EndMove(uint32_t family) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (--moves_[family] == 0) {
    moves_.erase(family);
  }
  changed_.notify_all();
}

FlsmCommits::Drop::Drop(FlsmCommits* commits, uint32_t family) : commits_(commits), family_(family) {
  std::unique_lock<std::mutex> lock(commits_->mutex_);
  commits_->dropped_.insert(family_);
  commits_->changed_.wait(lock, [this] { return !commits_->moves_.contains(family_); });
}

FlsmCommits::Drop::~Drop() {
  const std::lock_guard<std::mutex> lock(commits_->mutex_);
  commits_->dropped_.erase(family_);
}

FlsmCommits::Ingestion::Ingestion(FlsmCommits* commits) : commits_(commits) {
  std::unique_lock<std::mutex> lock(commits_->mutex_);
  commits_->changed_.wait(lock, [this] { return commits_->phase_ == Phase::kNoIngestion; });
  commits_->phase_ = Phase::kIngestionWaits;
  commits_->changed_.wait(lock, [this] { return commits_->commits_ == 0; });
  commits_->phase_ = Phase::kIngestion;
  commits_->changed_.notify_all();
}

FlsmCommits::Ingestion::~Ingestion() {
  const std::lock_guard<std::mutex> lock(commits_->mutex_);
  commits_->phase_ = Phase::kNoIngestion;
  commits_->changed_.notify_all();
}

void FlsmCommits::OnFlushBegin(rocksdb::DB* /*db*/, const rocksdb::FlushJobInfo& /*info*/) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return !is_alone_; });
}

void FlsmCommits::OnSubcompactionBegin(const rocksdb::SubcompactionJobInfo& /*info*/) {
  if (Commit::current != nullptr) {
    Commit::current->End();  // RocksDB did not move the files; it records nothing for the time being
  }
}

void FlsmCommits::OnSubcompactionCompleted(const rocksdb::SubcompactionJobInfo& /*info*/) {
  if (Commit::current != nullptr) {
    Commit::current->Begin();
  }
}

}  // namespace rocktune
