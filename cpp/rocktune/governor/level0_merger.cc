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

// Without epoch numbers RocksDB orders level 0 by sequence numbers, and does not open a database of which one
// table has numbers on both sides of another's. An ingested file has a single one, which may be newer than a
// memtable still to be flushed; merged with older tables it would make such a table. All others are older
// than every memtable, because memtables are flushed in order. (RocksDB's own merges look at the memtables,
// which nothing public tells of.) A flushed table with a single entry looks the same as an ingested file, and
// number 0 is older than everything.
bool MayBeNewerThanMemtables(const rocksdb::SstFileMetaData& file) {
  return !OrdersLevel0ByEpoch() && file.smallest_seqno == file.largest_seqno && file.largest_seqno > 0;
}

// The names of the tables that are to become one; empty if none are.
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
    : guard_(std::move(guard)), thread_([this] { Work(); }) {}

Level0Merger::~Level0Merger() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Level0Merger::Merge(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
  const Job job{db, family};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (working_ != job && std::find(jobs_.begin(), jobs_.end(), job) == jobs_.end()) {
    jobs_.push_back(job);
    changed_.notify_all();
  }
}

bool Level0Merger::IsWorthIt(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family) {
  const Job job{db, family};
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto failed = std::find(failed_.begin(), failed_.end(), job); failed != failed_.end()) {
      failed_.erase(failed);
      return false;
    }
    if (working_ == job) {
      return true;
    }
  }
  return !TablesToMerge(db, family).empty();
}

void Level0Merger::Leave(const rocksdb::DB* db) {
  std::unique_lock<std::mutex> lock(mutex_);
  jobs_.erase(std::remove_if(jobs_.begin(), jobs_.end(), [db](const Job& job) { return job.db == db; }),
              jobs_.end());
  leaving_ = db;
  failed_.erase(std::remove_if(failed_.begin(), failed_.end(), [db](const Job& job) { return job.db == db; }),
                failed_.end());
  changed_.wait(lock, [this, db] { return working_.db != db; });
  leaving_ = nullptr;
}

uint64_t Level0Merger::merges() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return merges_;
}

uint64_t Level0Merger::merged_tables() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return merged_tables_;
}

void Level0Merger::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ended_ || !jobs_.empty(); });
    if (ended_) {
      return;
    }
    working_ = jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    const std::vector<std::string> names = TablesToMerge(working_.db, working_.family);
    rocksdb::CompactionOptions options;
    options.compression = rocksdb::kDisableCompressionOption;  // the column family's own
    const rocksdb::Status status =
        names.empty() ? rocksdb::Status::OK()
                      : guard_->CompactFiles(working_.db, working_.family, options, names, 0, nullptr);
    lock.lock();
    if (!names.empty() && status.ok()) {
      ++merges_;
      merged_tables_ += names.size();
      if (leaving_ != working_.db) {
        jobs_.push_back(working_);
      }
    } else if (!status.ok() && !status.IsAborted() && leaving_ != working_.db) {
      failed_.push_back(working_);
    }
    working_ = {nullptr, nullptr};
    changed_.notify_all();
  }
}

}  // namespace rocktune
