#include "rocktune/migrate/source_store.h"

#include <rocksdb/metadata.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/wal_filter.h>
#include <rocksdb/write_batch.h>

#include "rocktune/flsm/flsm_shape_file.h"
#include "rocktune/runner/run_error.h"

namespace rocktune {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Looks for prepared transactions in a WAL that is replayed. RocksDB would refuse them, too; but a build with
// assertions ends the process.
class PreparedTransactions : public rocksdb::WalFilter {
 public:
  const char* Name() const override { return "rocktune.PreparedTransactions"; }
  WalProcessingOption LogRecordFound(unsigned long long /*log*/,  // NOLINT(*-runtime-int): RocksDB's own type
                                     const std::string& /*file*/, const rocksdb::WriteBatch& batch,
                                     rocksdb::WriteBatch* /*changed*/, bool* /*has_changed*/) override {
    if (!batch.HasBeginPrepare() && !batch.HasEndPrepare()) {
      return WalProcessingOption::kContinueProcessing;
    }
    found = true;
    return WalProcessingOption::kIgnoreCurrentRecord;
  }

  bool found = false;
};

}  // namespace

SourceStore::SourceStore(const MigrationRequest& request, rocksdb::Env* env)
    : env_(env), directory_(request.source) {
  if (!env_->FileExists(directory_ + "/CURRENT").ok()) {
    throw RunError(RunFailure::kInvalid, directory_ + " is no RocksDB database");
  }
  FlsmShapes shapes;
  if (!FlsmShapeFile(env_, directory_).Read(&shapes).IsNotFound()) {
    throw RunError(RunFailure::kInvalid, directory_ + " is an FLSM store; make a stock database of it first");
  }
  Lock();
  try {
    rocksdb::DBOptions options = ReadingOptions(request.present, env_);
    PreparedTransactions prepared;
    options.wal_filter = &prepared;
    std::vector<std::string> names;
    const rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, directory_, &names);
    if (!status.ok()) {
      throw StoreError(directory_ + " cannot be read", status);
    }
    families_ = FamiliesOf(request, names);
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    descriptors.reserve(families_.size());
    for (const MigratedFamily& family : families_) {
      descriptors.emplace_back(family.name, family.present);
    }
    store_.OpenReadOnly(options, directory_, descriptors);
    if (prepared.found) {
      throw RunError(RunFailure::kInvalid, directory_ +
                                               " has prepared transactions in its WAL; end them, and open "
                                               "and close it with its program");
    }
    for (std::size_t index = 0; index < families_.size(); ++index) {
      sizes_.push_back(SizeOf(index));
    }
  } catch (...) {
    env_->UnlockFile(lock_).PermitUncheckedError();
    throw;
  }
}

SourceStore::~SourceStore() { env_->UnlockFile(lock_).PermitUncheckedError(); }

void SourceStore::Lock() {
  const rocksdb::Status status = env_->LockFile(directory_ + "/LOCK", &lock_);
  if (!status.ok()) {
    throw RunError(RunFailure::kInvalid, directory_ + " is open or cannot be locked (" + status.ToString() +
                                             "); close it, or copy a checkpoint of it");
  }
}

FamilySize SourceStore::SizeOf(std::size_t index) const {
  const MigratedFamily& family = families_[index];
  rocksdb::ColumnFamilyMetaData metadata;
  store_.db()->GetColumnFamilyMetaData(store_.family(index), &metadata);
  rocksdb::TablePropertiesCollection tables;
  const rocksdb::Status status = store_.db()->GetPropertiesOfAllTables(store_.family(index), &tables);
  if (!status.ok()) {
    throw StoreError("column family '" + family.name + "' cannot be read", status);
  }
  FamilySize size{metadata.size + metadata.blob_file_size, metadata.blob_file_size};
  uint64_t operands = 0;
  for (const auto& [path, properties] : tables) {
    size.raw_bytes += properties->raw_key_size + properties->raw_value_size;
    operands += properties->num_merge_operands;
  }
  if (operands > 0 && !family.unknown_merge_operator.empty()) {
    throw UnmergedOperands(family);
  }
  return size;
}

uint64_t SourceStore::RawBytes() const {
  uint64_t bytes = 0;
  for (const FamilySize& size : sizes_) {
    bytes += size.raw_bytes;
  }
  return bytes;
}

std::string StateOf(const OpenStore& store, const std::string& directory) {
  std::string identity;
  const rocksdb::Status status = store.db()->GetDbIdentity(identity);
  if (!status.ok()) {
    throw StoreError(directory + " has no identity", status);
  }
  return identity + "/" + std::to_string(store.db()->GetLatestSequenceNumber());
}

void CheckSpace(rocksdb::Env* env, const std::string& directory, uint64_t bytes) {
  uint64_t free_bytes = 0;
  if (env->GetFreeSpace(directory, &free_bytes).ok() && free_bytes < bytes) {
    throw RunError(RunFailure::kOutOfDisk, directory + ": about " + std::to_string(bytes / kMiB + 1) +
                                               " MiB are needed, and its file system has " +
                                               std::to_string(free_bytes / kMiB) + " MiB free");
  }
}

}  // namespace rocktune
