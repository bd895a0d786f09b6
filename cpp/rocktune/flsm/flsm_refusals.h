#pragma once

#include <rocksdb/db.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rocktune/flsm/flsm_commits.h"
#include "rocktune/flsm/flsm_writes.h"

namespace rocktune {

// Returns the status of a refused call: NotSupported with the call's name and a reason.
inline rocksdb::Status RefusedCall(const char* call, const char* why) {
  return rocksdb::Status::NotSupported(call, why);
}

// The calls that an FlsmStore refuses: those that import column families or compact. Each returns
// NotSupported and has no effect. Ingestions are kept apart from compactions by FlsmCommits. SetOptions is
// checked by CheckOptions before it has an effect. The signatures are those of RocksDB 7.8 and of RocksDB 11.
class FlsmRefusals : public FlsmWrites {
  using Base = FlsmWrites;
  using Family = rocksdb::ColumnFamilyHandle;
  using Changes = std::unordered_map<std::string, std::string>;
  static constexpr const char* kNoImport =
      "imported tables lie at the levels of another tree; create the family and ingest them";
  static constexpr const char* kNoManualCompactions =
      "an FLSM store compacts by its own policy; call WaitUntilSettled";

 public:
  // `commits` is among the listeners of `db`.
  FlsmRefusals(rocksdb::DB* db, std::shared_ptr<FlsmCommits> commits)
      : Base(db), commits_(std::move(commits)) {}

  using Base::CreateColumnFamilyWithImport;
  rocksdb::Status CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions&, const std::string&,
                                               const rocksdb::ImportColumnFamilyOptions&,
                                               const rocksdb::ExportImportFilesMetaData&, Family**) override {
    return RefusedCall("CreateColumnFamilyWithImport", kNoImport);
  }

  using Base::IngestExternalFile;
  rocksdb::Status IngestExternalFile(Family* family, const std::vector<std::string>& files,
                                     const rocksdb::IngestExternalFileOptions& options) override {
    rocksdb::IngestExternalFileArg argument;
    argument.column_family = family;
    argument.external_files = files;
    argument.options = options;
    return IngestExternalFiles({argument});
  }
  using Base::IngestExternalFiles;
  rocksdb::Status IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>& files) override {
    rocksdb::Status status = Ingest(files);
    for (const rocksdb::IngestExternalFileArg& each : files) {
      OnIngested(each.column_family);
    }
    return status;
  }

  using Base::CompactRange;
  rocksdb::Status CompactRange(const rocksdb::CompactRangeOptions&, Family*, const rocksdb::Slice*,
                               const rocksdb::Slice*) override {
    return RefusedCall("CompactRange", kNoManualCompactions);
  }
  using Base::CompactFiles;
  rocksdb::Status CompactFiles(const rocksdb::CompactionOptions&, Family*, const std::vector<std::string>&,
                               const int, const int = -1, std::vector<std::string>* = nullptr,
                               rocksdb::CompactionJobInfo* = nullptr) override {
    return RefusedCall("CompactFiles", kNoManualCompactions);
  }
  rocksdb::Status SuggestCompactRange(Family*, const rocksdb::Slice*, const rocksdb::Slice*) override {
    return RefusedCall("SuggestCompactRange", kNoManualCompactions);
  }
  rocksdb::Status PromoteL0(Family*, int) override { return RefusedCall("PromoteL0", kNoManualCompactions); }
  // These do nothing, since they would stop the store's own compactions, which to RocksDB are manual ones.
  void DisableManualCompaction() override {}
  void EnableManualCompaction() override {}

#if ROCKSDB_MAJOR >= 11
  rocksdb::Status CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions&, const std::string&,
                                               const rocksdb::ImportColumnFamilyOptions&,
                                               const std::vector<const rocksdb::ExportImportFilesMetaData*>&,
                                               Family**) override {
    return RefusedCall("CreateColumnFamilyWithImport", kNoImport);
  }
  using Base::ClipColumnFamily;
  rocksdb::Status ClipColumnFamily(Family*, const rocksdb::Slice&, const rocksdb::Slice&) override {
    return RefusedCall("ClipColumnFamily", kNoManualCompactions);
  }
  using Base::SetOptions;
  rocksdb::Status SetOptions(const std::unordered_map<Family*, Changes>& families) override {
    for (const auto& [family, changes] : families) {
      if (rocksdb::Status status = CheckOptions(family, changes); !status.ok()) {
        return status;
      }
    }
    rocksdb::Status status = Base::SetOptions(families);
    for (const auto& [family, changes] : families) {
      OnOptionsSet(family);
    }
    return status;
  }
  // Waits for both: RocksDB knows the running compactions, the store knows the due ones.
  rocksdb::Status WaitForCompact(const rocksdb::WaitForCompactOptions& given) override {
    const auto begun = std::chrono::steady_clock::now();
    rocksdb::WaitForCompactOptions options = given;
    options.close_db = false;
    rocksdb::Status status = Base::WaitForCompact(options);
    if (status.ok()) {
      auto left = options.timeout;
      if (left.count() > 0) {
        left -=
            std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun);
        left = std::max(left, std::chrono::microseconds(1));
      }
      status = WaitForOwnCompactions(left);
    }
    return status.ok() && given.close_db ? this->Close() : status;
  }
#else
  using Base::SetOptions;
  rocksdb::Status SetOptions(Family* family, const Changes& changes) override {
    rocksdb::Status status = CheckOptions(family, changes);
    if (status.ok()) {
      status = Base::SetOptions(family, changes);
      OnOptionsSet(family);
    }
    return status;
  }
#endif
#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 5)
  rocksdb::Status CommitFileIngestionHandles(
      std::vector<std::unique_ptr<rocksdb::FileIngestionHandle>> handles) override {
    rocksdb::Status status = Commit(std::move(handles));
    OnIngestedSomewhere();  // the handles do not tell their families
    return status;
  }
#endif

 protected:
  // Returns the error with which the store refuses one of the changes, or OK.
  virtual rocksdb::Status CheckOptions(Family* family, const Changes& changes) const = 0;
  // Called after tables were ingested into a family, perhaps only some of them.
  virtual void OnIngested(Family* family) = 0;
  // The same, if the family is not known.
  virtual void OnIngestedSomewhere() = 0;
  // Called after SetOptions, whether or not it succeeded.
  virtual void OnOptionsSet(Family* family) = 0;
  // Waits until no compaction is due, for at most `timeout`; 0 means no timeout.
  virtual rocksdb::Status WaitForOwnCompactions(std::chrono::microseconds timeout) = 0;

 private:
#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 5)
  // Ingests in two steps: copying tables takes long, and must not hold compactions up.
  rocksdb::Status Ingest(const std::vector<rocksdb::IngestExternalFileArg>& files) {
    std::vector<std::unique_ptr<rocksdb::FileIngestionHandle>> handles(1);
    rocksdb::Status status = Base::PrepareFileIngestion(files, &handles.front());
    return status.ok() ? Commit(std::move(handles)) : status;
  }
  rocksdb::Status Commit(std::vector<std::unique_ptr<rocksdb::FileIngestionHandle>> handles) {
    const FlsmCommits::Ingestion ingestion(commits_.get());
    return Base::CommitFileIngestionHandles(std::move(handles));
  }
#else
  rocksdb::Status Ingest(const std::vector<rocksdb::IngestExternalFileArg>& files) {
    const FlsmCommits::Ingestion ingestion(commits_.get());
    return Base::IngestExternalFiles(files);
  }
#endif

 protected:
  const std::shared_ptr<FlsmCommits> commits_;
};

}  // namespace rocktune
