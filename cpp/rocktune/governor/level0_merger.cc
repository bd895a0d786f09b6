#include "rocktune/governor/level0_merger.h"

#include <rocksdb/metadata.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/governor/governor_policy.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

// True if RocksDB could not order the result of merging the file with older tables.
//
// RocksDB before 7.10 has no epoch numbers. It orders level 0 by sequence numbers, and refuses to open a
// database if one table has numbers on both sides of another's. An ingested file has a single number, which
// may be newer than a memtable that is not flushed yet; merged with older tables it would make such a table.
// All other tables are older than every memtable, because memtables are flushed in order. RocksDB's own
// merges compare with the memtables, which has no public interface. A flushed table with one entry cannot be
// told from an ingested file. Number 0 is older than every memtable.
bool MayBeNewerThanMemtables(const rocksdb::SstFileMetaData& file) {
  return !OrdersLevel0ByEpoch() && file.smallest_seqno == file.largest_seqno && file.largest_seqno > 0;
}

// Returns the names of the tables to merge into one; empty if NextLevel0Merge returns no merge.
std::vector<std::string> TablesToMerge(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(family, &metadata);
  const std::vector<rocksdb::SstFileMetaData>& files = metadata.levels.front().files;  // newest first
  std::vector<Level0Table> tables;
  tables.reserve(files.size());
  for (const rocksdb::SstFileMetaData& file : files) {
    tables.push_back({file.size, file.being_compacted || MayBeNewerThanMemtables(file)});
  }
  const Level0Merge merge = NextLevel0Merge(tables, db->GetOptions(family).max_compaction_bytes);
  std::vector<std::string> names;
  for (std::size_t place = merge.first; place < merge.first + merge.count; ++place) {
    names.push_back(files[place].name);
  }
  return names;
}

}  // namespace

Level0Merger::Level0Merger(std::shared_ptr<ManifestGuard> guard)
    : guard_(std::move(guard)), thread_([this] { RunJobs(); }) {}

Level0Merger::~Level0Merger() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Level0Merger::ScheduleMerge(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
  const Job job{db, family};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (running_ != job && std::find(jobs_.begin(), jobs_.end(), job) == jobs_.end()) {
    jobs_.push_back(job);
    changed_.notify_all();
  }
}

bool Level0Merger::CanMerge(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
  const Job job{db, family};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto failed = std::find(failed_.begin(), failed_.end(), job); failed != failed_.end()) {
      failed_.erase(failed);
      return false;
    }
    if (running_ == job) {
      return true;
    }
  }
  return !TablesToMerge(db, family).empty();
}

void Level0Merger::Detach(const rocksdb::DB* db) {
  std::unique_lock<std::mutex> lock(mutex_);
  jobs_.erase(std::remove_if(jobs_.begin(), jobs_.end(), [db](const Job& job) { return job.db == db; }),
              jobs_.end());
  detaching_ = db;
  failed_.erase(std::remove_if(failed_.begin(), failed_.end(), [db](const Job& job) { return job.db == db; }),
                failed_.end());
  changed_.wait(lock, [this, db] { return running_.db != db; });
  detaching_ = nullptr;
}

uint64_t Level0Merger::merges() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return merges_;
}

uint64_t Level0Merger::merged_tables() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return merged_tables_;
}

void Level0Merger::RunJobs() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ended_ || !jobs_.empty(); });
    if (ended_) {
      return;
    }
    running_ = jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    const std::vector<std::string> names = TablesToMerge(running_.db, running_.family);
    rocksdb::CompactionOptions options;
    options.compression = rocksdb::kDisableCompressionOption;  // means: as the column family says
    const rocksdb::Status status =
        names.empty() ? rocksdb::Status::OK()
                      : guard_->CompactFiles(running_.db, running_.family, options, names, 0, nullptr);
    lock.lock();
    if (!names.empty() && status.ok()) {
      ++merges_;
      merged_tables_ += names.size();
      // At the end of the queue, so that column families take turns.
      if (detaching_ != running_.db) {
        jobs_.push_back(running_);
      }
    } else if (!status.ok() && !status.IsAborted() && detaching_ != running_.db) {
      failed_.push_back(running_);
    }
    running_ = {nullptr, nullptr};
    changed_.notify_all();
  }
}

}  // namespace rocktune
