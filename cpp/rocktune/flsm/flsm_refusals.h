#pragma once

#include <rocksdb/db.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocktune/flsm/flsm_writes.h"

namespace rocktune {

inline rocksdb::Status RefusedCall(const char* call, const char* why) {
  return rocksdb::Status::NotSupported(call, why);
}

// The calls that an FlsmStore refuses: those by which a rocksdb::DB gets further column families, tables from
// elsewhere and compactions by others. Each returns NotSupported and has no effect. Changes of options are
// checked first. Signatures are those of RocksDB 7.8 and of RocksDB 11.
class FlsmRefusals : public FlsmWrites {
  using Base = FlsmWrites;
  using Family = rocksdb::ColumnFamilyHandle;
  using Changes = std::unordered_map<std::string, std::string>;
  static constexpr const char* kOneFamily = "the store has the default column family alone";
  static constexpr const char* kIngests = "the store takes no tables from elsewhere; write their entries";
  static constexpr const char* kCompacts = "the store compacts by its own policy; see WaitUntilSettled";

 public:
  using Base::Base;

  rocksdb::Status CreateColumnFamily(const rocksdb::ColumnFamilyOptions&, const std::string&,
                                     Family**) override {
    return RefusedCall("CreateColumnFamily", kOneFamily);
  }
  rocksdb::Status CreateColumnFamilies(const rocksdb::ColumnFamilyOptions&, const std::vector<std::string>&,
                                       std::vector<Family*>*) override {
    return RefusedCall("CreateColumnFamilies", kOneFamily);
  }
  rocksdb::Status CreateColumnFamilies(const std::vector<rocksdb::ColumnFamilyDescriptor>&,
                                       std::vector<Family*>*) override {
    return RefusedCall("CreateColumnFamilies", kOneFamily);
  }
  using Base::CreateColumnFamilyWithImport;
  rocksdb::Status CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions&, const std::string&,
                                               const rocksdb::ImportColumnFamilyOptions&,
                                               const rocksdb::ExportImportFilesMetaData&, Family**) override {
    return RefusedCall("CreateColumnFamilyWithImport", kOneFamily);
  }

  using Base::IngestExternalFile;
  rocksdb::Status IngestExternalFile(Family*, const std::vector<std::string>&,
                                     const rocksdb::IngestExternalFileOptions&) override {
    return RefusedCall("IngestExternalFile", kIngests);
  }
  using Base::IngestExternalFiles;
  rocksdb::Status IngestExternalFiles(const std::vector<rocksdb::IngestExternalFileArg>&) override {
    return RefusedCall("IngestExternalFiles", kIngests);
  }

  using Base::CompactRange;
  rocksdb::Status CompactRange(const rocksdb::CompactRangeOptions&, Family*, const rocksdb::Slice*,
                               const rocksdb::Slice*) override {
    return RefusedCall("CompactRange", kCompacts);
  }
  using Base::CompactFiles;
  rocksdb::Status CompactFiles(const rocksdb::CompactionOptions&, Family*, const std::vector<std::string>&,
                               const int, const int = -1, std::vector<std::string>* = nullptr,
                               rocksdb::CompactionJobInfo* = nullptr) override {
    return RefusedCall("CompactFiles", kCompacts);
  }
  rocksdb::Status SuggestCompactRange(Family*, const rocksdb::Slice*, const rocksdb::Slice*) override {
    return RefusedCall("SuggestCompactRange", kCompacts);
  }
  rocksdb::Status PromoteL0(Family*, int) override { return RefusedCall("PromoteL0", kCompacts); }
  // Nothing to do: RocksDB takes the store's own compactions for manual ones, and these must go on.
  void DisableManualCompaction() override {}
  void EnableManualCompaction() override {}

#if ROCKSDB_MAJOR >= 11
  rocksdb::Status CreateColumnFamilyWithImport(const rocksdb::ColumnFamilyOptions&, const std::string&,
                                               const rocksdb::ImportColumnFamilyOptions&,
                                               const std::vector<const rocksdb::ExportImportFilesMetaData*>&,
                                               Family**) override {
    return RefusedCall("CreateColumnFamilyWithImport", kOneFamily);
  }
  using Base::ClipColumnFamily;
  rocksdb::Status ClipColumnFamily(Family*, const rocksdb::Slice&, const rocksdb::Slice&) override {
    return RefusedCall("ClipColumnFamily", kCompacts);
  }
  using Base::SetOptions;
  rocksdb::Status SetOptions(const std::unordered_map<Family*, Changes>& families) override {
    for (const auto& [family, changes] : families) {
      if (rocksdb::Status status = CheckOptions(changes); !status.ok()) {
        return status;
      }
    }
    rocksdb::Status status = Base::SetOptions(families);
    OnOptionsSet();
    return status;
  }
  // RocksDB knows the compactions that run, the store those that are due; this waits for both.
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
      status = WaitForOwn(left);
    }
    return status.ok() && given.close_db ? this->Close() : status;
  }
#else
  using Base::SetOptions;
  rocksdb::Status SetOptions(Family* family, const Changes& changes) override {
    rocksdb::Status status = CheckOptions(changes);
    if (status.ok()) {
      status = Base::SetOptions(family, changes);
      OnOptionsSet();
    }
    return status;
  }
#endif
#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 5)
  using Base::PrepareFileIngestion;
  rocksdb::Status PrepareFileIngestion(const std::vector<rocksdb::IngestExternalFileArg>&,
                                       std::unique_ptr<rocksdb::FileIngestionHandle>*) override {
    return RefusedCall("PrepareFileIngestion", kIngests);
  }
  rocksdb::Status CommitFileIngestionHandles(
      std::vector<std::unique_ptr<rocksdb::FileIngestionHandle>>) override {
    return RefusedCall("CommitFileIngestionHandles", kIngests);
  }
#endif

 protected:
  // Returns OK unless the store refuses one of the changes.
  virtual rocksdb::Status CheckOptions(const Changes& changes) const = 0;
  // Called after SetOptions, whether or not it succeeded.
  virtual void OnOptionsSet() = 0;
  // Waits until no compaction is due, at most `timeout`; 0 means without a limit.
  virtual rocksdb::Status WaitForOwn(std::chrono::microseconds timeout) = 0;
};

}  // namespace rocktune
