#include "rocktune/trace/stored_keys.h"

#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/wide_columns.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "rocktune/util/rocksdb_compat.h"
#include "rocktune/util/silent_logger.h"

namespace rocktune {
namespace {

// A write-ahead log beyond it would take too much memory.
constexpr uint64_t kMaxWalBytes = uint64_t{1} << 30;

// Stands in for the application's merge operator, which is not linked here. The result has the size of the
// largest part.
class LargestPart : public rocksdb::MergeOperator {
 public:
  explicit LargestPart(std::shared_ptr<std::atomic<uint64_t>> merged) : merged_(std::move(merged)) {}

  bool FullMergeV2(const MergeOperationInput& input, MergeOperationOutput* output) const override {
    rocksdb::Slice largest = input.existing_value == nullptr ? rocksdb::Slice() : *input.existing_value;
    for (const rocksdb::Slice& operand : input.operand_list) {
      largest = operand.size() > largest.size() ? operand : largest;
    }
    output->new_value.assign(largest.data(), largest.size());
    merged_->fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  const char* Name() const override { return "rocktune.LargestPart"; }

 private:
  const std::shared_ptr<std::atomic<uint64_t>> merged_;
};

[[noreturn]] void Refuse(const std::string& directory, const std::string& reason) {
  throw std::invalid_argument(directory + ": " + reason);
}

void Check(const std::string& directory, const std::string& what, const rocksdb::Status& status) {
  if (status.ok()) {
    return;
  }
  const std::string reason = status.ToString();
  const bool order = reason.find("comparator") != std::string::npos;
  Refuse(directory,
         what + ": " + reason + (order ? "; only keys in RocksDB's bytewise order can be preloaded" : ""));
}

rocksdb::Options ReadingOptions(const std::shared_ptr<std::atomic<uint64_t>>& merged) {
  rocksdb::Options options;
  options.info_log = std::make_shared<SilentLogger>();
  options.max_open_files = 128;
  options.merge_operator = std::make_shared<LargestPart>(merged);
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(32 << 20);
  table.cache_index_and_filter_blocks = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// Returns the number of blob files. Refuses directories without a database, and large write-ahead logs.
uint64_t CheckFiles(const std::string& directory) {
  std::error_code failure;
  if (!std::filesystem::exists(std::filesystem::path(directory) / "CURRENT", failure)) {
    Refuse(directory, "holds no RocksDB database: it has no file CURRENT");
  }
  uint64_t wal_bytes = 0;
  uint64_t blob_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failure)) {
    const auto suffix = entry.path().extension();
    blob_files += suffix == ".blob";
    std::error_code gone;
    const uint64_t bytes = suffix == ".log" ? entry.file_size(gone) : 0;
    wal_bytes += gone ? 0 : bytes;
  }
  if (wal_bytes > kMaxWalBytes) {
    Refuse(directory, "its write-ahead log has " + std::to_string(wal_bytes >> 20) +
                          " MiB, which would be read into memory; make a checkpoint, which flushes, and "
                          "give that");
  }
  return blob_files;
}

}  // namespace

StoredKeys::StoredKeys(const std::string& directory)
    : directory_(directory), merged_values_(std::make_shared<std::atomic<uint64_t>>(0)) {
  blob_files_ = CheckFiles(directory_);
  const rocksdb::Options options = ReadingOptions(merged_values_);
  std::vector<std::string> names;
  Check(directory_, "its column families cannot be listed",
        rocksdb::DB::ListColumnFamilies(options, directory_, &names));
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  families.reserve(names.size());
  for (const std::string& name : names) {
    families.emplace_back(name, options);
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  Check(directory_, "cannot be opened",
        OpenColumnFamiliesReadOnly(options, directory_, families, &handles, &database_));
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    handles_[handle->GetID()] = handle;
  }
}

StoredKeys::~StoredKeys() {
  keys_.reset();
  for (const auto& [id, handle] : handles_) {
    database_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

std::vector<uint32_t> StoredKeys::Families() const {
  std::vector<uint32_t> ids;
  for (const auto& [id, handle] : handles_) {
    ids.push_back(id);
  }
  return ids;
}

uint64_t StoredKeys::EstimatedKeys(uint32_t family_id) const {
  uint64_t keys = 0;
  database_->GetIntProperty(handles_.at(family_id), rocksdb::DB::Properties::kEstimateNumKeys, &keys);
  return keys;
}

void StoredKeys::Begin(uint32_t family_id) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.total_order_seek = true;
  options.readahead_size = 2 << 20;
  keys_.reset(database_->NewIterator(options, handles_.at(family_id)));
  keys_->SeekToFirst();
}

bool StoredKeys::Valid() const {
  if (!keys_->Valid()) {
    Check(directory_, "cannot be read", keys_->status());
    return false;
  }
  return true;
}

void StoredKeys::Next() { keys_->Next(); }

uint64_t StoredKeys::ValueBytes() {
  uint64_t bytes = 0;
  const rocksdb::WideColumns& columns = keys_->columns();
  for (const rocksdb::WideColumn& column : columns) {
    bytes += column.name().size() + column.value().size();
  }
  entities_ += columns.size() > 1 || (columns.size() == 1 && !columns.front().name().empty());
  return bytes;
}

TraceNotes StoredKeys::Notes() const {
  TraceNotes notes;
  const auto add = [&notes](const std::string& note, uint64_t cases) {
    if (cases > 0) {
      notes[note] = cases;
    }
  };
  add("stored values with merge operands, preloaded with the size of the largest part", *merged_values_);
  add("stored entities with wide columns, preloaded as one value of the same size", entities_);
  add("blob files, whose values are preloaded where the measured configuration stores them", blob_files_);
  return notes;
}

}  // namespace rocktune
