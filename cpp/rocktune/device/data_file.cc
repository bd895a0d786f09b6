#include "rocktune/device/data_file.h"

#include <atomic>
#include <string>
#include <utility>

// Every function that RocksDB calls is noexcept: the only possible exception here is std::bad_alloc, and
// RocksDB's code is not exception-safe.

namespace rocktune {
namespace {

using rocksdb::DataVerificationInfo;
using rocksdb::FSReadRequest;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

IoCause CauseOfRead(FileKind kind) {
  if (kind != FileKind::kTable) {  // RocksDB reads WALs only for recovery and replication
    return IoCause::kOther;
  }
  switch (CurrentThreadRole()) {
    case ThreadRole::kUser:
      return IoCause::kUserRead;
    case ThreadRole::kCompaction:
      return IoCause::kCompactionRead;
    default:
      return IoCause::kOther;
  }
}

IoCause CauseOfWrite(FileKind kind) {
  if (kind == FileKind::kWal) {
    return IoCause::kWal;
  }
  switch (CurrentThreadRole()) {
    case ThreadRole::kFlush:
      return IoCause::kFlush;
    case ThreadRole::kCompaction:
      return IoCause::kCompactionWrite;
    default:
      return IoCause::kOther;
  }
}

void PassRead(Throttle* throttle, FileKind kind, uint64_t bytes) {
  if (bytes != 0) {
    throttle->Pass(CauseOfRead(kind), bytes, Throttle::OperationsOf(bytes), throttle->spec().read_latency_us);
  }
}

class SequentialFile : public rocksdb::FSSequentialFileOwnerWrapper {
 public:
  SequentialFile(std::unique_ptr<rocksdb::FSSequentialFile> base, FileKind kind, Throttle* throttle)
      : FSSequentialFileOwnerWrapper(std::move(base)), kind_(kind), throttle_(throttle) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) noexcept override {
    return Passed(target()->Read(n, options, result, scratch, dbg), *result);
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                          IODebugContext* dbg) noexcept override {
    return Passed(target()->PositionedRead(offset, n, options, result, scratch, dbg), *result);
  }

 private:
  IOStatus Passed(IOStatus status, const Slice& result) {
    if (status.ok()) {
      PassRead(throttle_, kind_, result.size());
    }
    return status;
  }

  const FileKind kind_;
  Throttle* const throttle_;
};

// Derives from the interface and not from RocksDB's wrapper of it. The interface's own Prefetch returns
// NotSupported and its ReadAsync calls Read, as wanted here. The wrapper would forward both to the base, past
// the throttle.
class RandomAccessFile : public rocksdb::FSRandomAccessFile {
 public:
  RandomAccessFile(std::unique_ptr<rocksdb::FSRandomAccessFile> base, FileKind kind, Throttle* throttle)
      : base_(std::move(base)), kind_(kind), throttle_(throttle) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const noexcept override {
    IOStatus status = base_->Read(offset, n, options, result, scratch, dbg);
    if (status.ok()) {
      PassRead(throttle_, kind_, result->size());
    }
    return status;
  }

  // Submits the requests together, so that they wait for one latency in all.
  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* dbg) noexcept override {
    IOStatus status = base_->MultiRead(requests, count, options, dbg);
    uint64_t bytes = 0;
    uint64_t operations = 0;
    for (size_t i = 0; status.ok() && i < count; ++i) {
      if (requests[i].status.ok()) {
        bytes += requests[i].result.size();
        operations += Throttle::OperationsOf(requests[i].result.size());
      }
    }
    if (bytes != 0) {
      throttle_->Pass(CauseOfRead(kind_), bytes, operations, throttle_->spec().read_latency_us);
    }
    return status;
  }

  size_t GetUniqueId(char* id, size_t max_size) const noexcept override {
    return base_->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) noexcept override { base_->Hint(pattern); }
  bool use_direct_io() const noexcept override { return base_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const noexcept override { return base_->GetRequiredBufferAlignment(); }
  IOStatus InvalidateCache(size_t offset, size_t length) noexcept override {
    return base_->InvalidateCache(offset, length);
  }
  rocksdb::Temperature GetTemperature() const noexcept override { return base_->GetTemperature(); }

 private:
  const std::unique_ptr<rocksdb::FSRandomAccessFile> base_;
  const FileKind kind_;
  Throttle* const throttle_;
};

class WritableFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  WritableFile(std::unique_ptr<rocksdb::FSWritableFile> base, FileKind kind, Throttle* throttle,
               StoredFiles* stored_files, std::shared_ptr<StoredFiles::File> stored, uint64_t position)
      : FSWritableFileOwnerWrapper(std::move(base)),
        kind_(kind),
        throttle_(throttle),
        stored_files_(stored_files),
        stored_(std::move(stored)),
        position_(position) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) noexcept override {
    return Write(position_, data.size(), [&] { return target()->Append(data, options, dbg); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& verification_info,
                  IODebugContext* dbg) noexcept override {
    return Write(position_, data.size(),
                 [&] { return target()->Append(data, options, verification_info, dbg); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) noexcept override {
    return Write(offset, data.size(), [&] { return target()->PositionedAppend(data, offset, options, dbg); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& verification_info,
                            IODebugContext* dbg) noexcept override {
    return Write(offset, data.size(),
                 [&] { return target()->PositionedAppend(data, offset, options, verification_info, dbg); });
  }

  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) noexcept override {
    return PassUnsynced(target()->Sync(options, dbg), throttle_->spec().sync_latency_us);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) noexcept override {
    return PassUnsynced(target()->Fsync(options, dbg), throttle_->spec().sync_latency_us);
  }
  IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options,
                     IODebugContext* dbg) noexcept override {
    return PassUnsynced(target()->RangeSync(offset, bytes, options, dbg), 0);
  }

  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) noexcept override {
    IOStatus status = target()->Truncate(size, options, dbg);
    if (status.ok()) {
      stored_files_->Shrink(stored_.get(), size);
    }
    return status;
  }

 private:
  // Reserves capacity, calls `write`, and passes the device. Releases the capacity again if `write` fails.
  template <typename WriteFunction>
  IOStatus Write(uint64_t offset, uint64_t bytes, WriteFunction write) {
    const uint64_t stored_before = stored_->bytes();
    if (!stored_files_->Grow(stored_.get(), offset + bytes)) {
      return IOStatus::NoSpace("the device's capacity_bytes of " +
                               std::to_string(stored_files_->capacity_bytes()) +
                               " are used up; raise capacity_bytes or store less");
    }
    IOStatus status = write();
    if (!status.ok()) {
      stored_files_->Shrink(stored_.get(), stored_before);
      return status;
    }
    position_ = offset + bytes;
    const uint64_t operations = AddUnsynced(bytes);
    throttle_->Pass(CauseOfWrite(kind_), bytes, operations,
                    operations != 0 ? throttle_->spec().write_latency_us : 0);
    return status;
  }

  // Adds written bytes and returns the number of device operations that are now full. The rest is charged
  // with later bytes or at the next sync.
  uint64_t AddUnsynced(uint64_t bytes) {
    const uint64_t written = written_bytes_.load(std::memory_order_relaxed) + bytes;
    written_bytes_.store(written, std::memory_order_relaxed);
    uint64_t charged = charged_bytes_.load(std::memory_order_relaxed);
    const uint64_t operations = (written - charged) / Throttle::kOperationBytes;
    if (operations == 0) {
      return 0;
    }
    // Fails if a sync on another thread has charged these bytes meanwhile.
    const uint64_t now_charged = charged + operations * Throttle::kOperationBytes;
    return charged_bytes_.compare_exchange_strong(charged, now_charged) ? operations : 0;
  }

  // Passes the device with the rest that no full operation covers, and with the latency of the sync.
  IOStatus PassUnsynced(IOStatus status, uint64_t sync_latency_us) {
    if (status.ok()) {
      const uint64_t written = written_bytes_.load(std::memory_order_relaxed);
      // A sync without new bytes is no device operation.
      const bool writes = charged_bytes_.exchange(written) != written;
      throttle_->Pass(CauseOfWrite(kind_), 0, writes ? 1 : 0,
                      sync_latency_us + (writes ? throttle_->spec().write_latency_us : 0));
    }
    return status;
  }

  const FileKind kind_;
  Throttle* const throttle_;
  StoredFiles* const stored_files_;
  const std::shared_ptr<StoredFiles::File> stored_;
  uint64_t position_;
  // Atomic because RocksDB may sync a WAL while another thread appends to it.
  std::atomic<uint64_t> written_bytes_{0};  // changed by appends only
  std::atomic<uint64_t> charged_bytes_{0};  // of these, the bytes in device operations; changed by both
};

class RandomRWFile : public rocksdb::FSRandomRWFileOwnerWrapper {
 public:
  RandomRWFile(std::unique_ptr<rocksdb::FSRandomRWFile> base, FileKind kind, Throttle* throttle)
      : FSRandomRWFileOwnerWrapper(std::move(base)), kind_(kind), throttle_(throttle) {}

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) noexcept override {
    IOStatus status = target()->Write(offset, data, options, dbg);
    if (status.ok()) {
      throttle_->Pass(CauseOfWrite(kind_), data.size(), Throttle::OperationsOf(data.size()),
                      throttle_->spec().write_latency_us);
    }
    return status;
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const noexcept override {
    IOStatus status = target()->Read(offset, n, options, result, scratch, dbg);
    if (status.ok()) {
      PassRead(throttle_, kind_, result->size());
    }
    return status;
  }

 private:
  const FileKind kind_;
  Throttle* const throttle_;
};

}  // namespace

FileKind FileKindOf(std::string_view path) {
  if (path.ends_with(".sst") || path.ends_with(".blob")) {
    return FileKind::kTable;
  }
  return path.ends_with(".log") ? FileKind::kWal : FileKind::kMetadata;
}

std::unique_ptr<rocksdb::FSSequentialFile> ThrottleSequentialFile(
    std::unique_ptr<rocksdb::FSSequentialFile> base, FileKind kind, Throttle* throttle) {
  return std::make_unique<SequentialFile>(std::move(base), kind, throttle);
}

std::unique_ptr<rocksdb::FSRandomAccessFile> ThrottleRandomAccessFile(
    std::unique_ptr<rocksdb::FSRandomAccessFile> base, FileKind kind, Throttle* throttle) {
  return std::make_unique<RandomAccessFile>(std::move(base), kind, throttle);
}

std::unique_ptr<rocksdb::FSWritableFile> ThrottleWritableFile(std::unique_ptr<rocksdb::FSWritableFile> base,
                                                              FileKind kind, Throttle* throttle,
                                                              StoredFiles* stored_files,
                                                              std::shared_ptr<StoredFiles::File> stored,
                                                              uint64_t position) {
  return std::make_unique<WritableFile>(std::move(base), kind, throttle, stored_files, std::move(stored),
                                        position);
}

std::unique_ptr<rocksdb::FSRandomRWFile> ThrottleRandomRWFile(std::unique_ptr<rocksdb::FSRandomRWFile> base,
                                                              FileKind kind, Throttle* throttle) {
  return std::make_unique<RandomRWFile>(std::move(base), kind, throttle);
}

}  // namespace rocktune
