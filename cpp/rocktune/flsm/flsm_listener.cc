#include "rocktune/flsm/flsm_listener.h"

#include <rocksdb/db.h>

#include "rocktune/flsm/flsm_compactor.h"
#include "rocktune/flsm/flsm_recorder.h"

namespace rocktune {
namespace {

constinit thread_local CompactionOutputs* current_outputs = nullptr;

}  // namespace

CompactionOutputs::CompactionOutputs() { current_outputs = this; }

CompactionOutputs::~CompactionOutputs() { current_outputs = nullptr; }

void FlsmListener::OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) {
  if (!info.status.ok() || info.file_size == 0) {
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
  if (const auto receiver = receivers_.find(info.cf_id); receiver != receivers_.end()) {
    receiver->second.compactor->OnFlushed({made->first, made->second});
  }
  flushed_bytes_.erase(made);
}

void FlsmListener::OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) {
  const uint64_t number = TableNumber(info.file_path);
  const std::lock_guard<std::mutex> lock(mutex_);
  flushed_bytes_.erase(number);  // its flush may have failed, or its family been dropped
  if (!info.status.ok()) {
    return;
  }
  // The event does not tell the family. Table numbers are unique, and only one family knows this one.
  for (const auto& [id, receiver] : receivers_) {
    receiver.compactor->OnDeleted(number);
  }
}

void FlsmListener::OnMemTableSealed(const rocksdb::MemTableInfo& info) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [id, receiver] : receivers_) {
    if (receiver.name == info.cf_name) {
      receiver.recorder->CountSealed(info.num_entries);
    }
  }
}

void FlsmListener::Add(uint32_t id, const std::string& name, FlsmCompactor* compactor,
                       FlsmRecorder* recorder) {
  const std::lock_guard<std::mutex> lock(mutex_);
  receivers_[id] = {name, compactor, recorder};
}

void FlsmListener::Remove(uint32_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  receivers_.erase(id);
}

}  // namespace rocktune
