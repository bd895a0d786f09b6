#include "rocktune/flsm/flsm_listener.h"

#include <rocksdb/db.h>

#include "rocktune/flsm/flsm_compactor.h"

namespace rocktune {
namespace {

constinit thread_local CompactionOutputs* current_outputs = nullptr;

}  // namespace

CompactionOutputs::CompactionOutputs() { current_outputs = this; }

CompactionOutputs::~CompactionOutputs() { current_outputs = nullptr; }

void FlsmListener::OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) {
  if (!info.status.ok() || info.file_size == 0 || info.cf_name != rocksdb::kDefaultColumnFamilyName) {
    return;  // RocksDB deletes an empty table
  }
  const FlsmTable table{TableNumber(info.file_path), info.file_size};
  if (info.reason == rocksdb::TableFileCreationReason::kFlush) {
    const std::lock_guard<std::mutex> lock(mutex_);
    flushed_bytes_[table.number] = table.bytes;
  } else if (current_outputs != nullptr) {
    current_outputs->tables_.push_back(table);
  }
}

void FlsmListener::OnFlushCompleted(rocksdb::DB* /*db*/, const rocksdb::FlushJobInfo& info) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto made = flushed_bytes_.find(info.file_number);
  if (made == flushed_bytes_.end()) {
    return;
  }
  if (compactor_ != nullptr) {
    compactor_->OnFlushed({made->first, made->second});
  }
  flushed_bytes_.erase(made);
}

void FlsmListener::OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (compactor_ != nullptr && info.status.ok()) {
    compactor_->OnDeleted(TableNumber(info.file_path));
  }
}

void FlsmListener::SetCompactor(FlsmCompactor* compactor) {
  const std::lock_guard<std::mutex> lock(mutex_);
  compactor_ = compactor;
}

}  // namespace rocktune
