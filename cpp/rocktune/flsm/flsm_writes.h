#pragma once

#include <rocksdb/db.h>
#include <rocksdb/version.h>
#include <rocksdb/wide_columns.h>

#include <cstdint>
#include <vector>

#include "rocktune/flsm/flsm_reads.h"
#if ROCKSDB_MAJOR >= 11
#include <rocksdb/attribute_groups.h>
#endif

namespace rocktune {

// The writes of an FlsmStore: RocksDB's own, timed by recorders. Overloads that are missing here reach
// RocksDB as a batch, through Write. The signatures are those of RocksDB 7.8 and of RocksDB 11.
class FlsmWrites : public FlsmReads {
  using Base = FlsmReads;
  using Family = rocksdb::ColumnFamilyHandle;

 public:
  using Base::Base;

  using Base::Put;
  rocksdb::Status Put(const rocksdb::WriteOptions& options, Family* family, const rocksdb::Slice& key,
                      const rocksdb::Slice& value) override {
    return RecorderOf(family)->Write([&] { return db_->Put(options, family, key, value); });
  }
  rocksdb::Status Put(const rocksdb::WriteOptions& options, Family* family, const rocksdb::Slice& key,
                      const rocksdb::Slice& timestamp, const rocksdb::Slice& value) override {
    return RecorderOf(family)->Write([&] { return db_->Put(options, family, key, timestamp, value); });
  }
  using Base::PutEntity;
  rocksdb::Status PutEntity(const rocksdb::WriteOptions& options, Family* family, const rocksdb::Slice& key,
                            const rocksdb::WideColumns& columns) override {
    return RecorderOf(family)->Write([&] { return db_->PutEntity(options, family, key, columns); });
  }
  using Base::Delete;
  rocksdb::Status Delete(const rocksdb::WriteOptions& options, Family* family,
                         const rocksdb::Slice& key) override {
    return RecorderOf(family)->Write([&] { return db_->Delete(options, family, key); });
  }
  rocksdb::Status Delete(const rocksdb::WriteOptions& options, Family* family, const rocksdb::Slice& key,
                         const rocksdb::Slice& timestamp) override {
    return RecorderOf(family)->Write([&] { return db_->Delete(options, family, key, timestamp); });
  }
  using Base::SingleDelete;
  rocksdb::Status SingleDelete(const rocksdb::WriteOptions& options, Family* family,
                               const rocksdb::Slice& key) override {
    return RecorderOf(family)->Write([&] { return db_->SingleDelete(options, family, key); });
  }
  rocksdb::Status SingleDelete(const rocksdb::WriteOptions& options, Family* family,
                               const rocksdb::Slice& key, const rocksdb::Slice& timestamp) override {
    return RecorderOf(family)->Write([&] { return db_->SingleDelete(options, family, key, timestamp); });
  }
  using Base::DeleteRange;
  rocksdb::Status DeleteRange(const rocksdb::WriteOptions& options, Family* family,
                              const rocksdb::Slice& begin, const rocksdb::Slice& end) override {
    return RecorderOf(family)->Write([&] { return db_->DeleteRange(options, family, begin, end); });
  }
  using Base::Merge;
  rocksdb::Status Merge(const rocksdb::WriteOptions& options, Family* family, const rocksdb::Slice& key,
                        const rocksdb::Slice& value) override {
    return RecorderOf(family)->Write([&] { return db_->Merge(options, family, key, value); });
  }
  rocksdb::Status Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* batch) override {
    const uint64_t represented = RecorderOf(nullptr)->SampleWrite();
    if (represented == 0) {
      return db_->Write(options, batch);
    }
    // Before the write, which may add to the batch.
    const std::vector<FlsmShare> shares = trees_.SharesOf(*batch, represented);
    rocksdb::Status status;
    FlsmRecorder::TimeShared(shares, [&] { status = db_->Write(options, batch); });
    return status;
  }

#if ROCKSDB_MAJOR >= 11
  rocksdb::Status PutEntity(const rocksdb::WriteOptions& options, const rocksdb::Slice& key,
                            const rocksdb::AttributeGroups& groups) override {
    return RecorderOf(groups.empty() ? nullptr : groups.front().column_family())->Write([&] {
      return db_->PutEntity(options, key, groups);
    });
  }
  rocksdb::Status Merge(const rocksdb::WriteOptions& options, Family* family, const rocksdb::Slice& key,
                        const rocksdb::Slice& timestamp, const rocksdb::Slice& value) override {
    return RecorderOf(family)->Write([&] { return db_->Merge(options, family, key, timestamp, value); });
  }
#endif
};

}  // namespace rocktune
