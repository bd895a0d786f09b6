#include "rocktune/trace/query_trace.h"

#include <rocksdb/slice.h>
#include <rocksdb/trace_record.h>
#include <rocksdb/write_batch.h>

#include <cstring>
#include <stdexcept>
#include <string_view>

namespace rocktune {
namespace {

// A record is a time in microseconds, a type and a payload with its length.
constexpr std::size_t kTimeBytes = 8;
constexpr std::size_t kRecordHeadBytes = kTimeBytes + 1 + 4;
constexpr std::string_view kMagic = "feedcafedeadbeef";
constexpr std::size_t kMaxHeaderBytes = 4096;
// Bounds of the memory that a damaged or huge record takes.
constexpr std::size_t kMaxPayloadBytes = 32 << 20;
constexpr std::size_t kMaxRecordOperations = 200'000;

// A query record's payload begins with a set of fields, which follow in the order of these numbers.
enum Field {
  kWriteBatch = 1,
  kGetFamily,
  kGetKey,
  kSeekFamily,
  kSeekKey,
  kLowerBound,
  kUpperBound,
  kMultiGetSize,
  kMultiGetFamilies,
  kMultiGetKeys
};
constexpr uint64_t Bit(Field field) { return uint64_t{1} << field; }

uint64_t FixedNumber(const char* data, std::size_t bytes) {
  uint64_t number = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    number |= uint64_t{static_cast<unsigned char>(data[i])} << (8 * i);
  }
  return number;
}

bool TakeFixed(std::string_view* from, std::size_t bytes, uint64_t* number) {
  if (from->size() < bytes) {
    return false;
  }
  *number = FixedNumber(from->data(), bytes);
  from->remove_prefix(bytes);
  return true;
}

// Takes a text behind its length, which is a varint32.
bool TakeText(std::string_view* from, std::string_view* text) {
  uint64_t bytes = 0;
  for (int shift = 0; shift <= 28; shift += 7) {
    uint64_t byte = 0;
    if (!TakeFixed(from, 1, &byte)) {
      return false;
    }
    bytes |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (from->size() < bytes) {
        return false;
      }
      *text = from->substr(0, bytes);
      from->remove_prefix(bytes);
      return true;
    }
  }
  return false;
}

// Queues the operations of a write batch. Transactions' marks carry no operations.
class BatchReader : public rocksdb::WriteBatch::Handler {
 public:
  BatchReader(uint64_t time_us, std::deque<TraceEvent>* events, TraceNotes* notes)
      : time_us_(time_us), events_(*events), notes_(*notes), first_(events->size()) {}

  rocksdb::Status PutCF(uint32_t family, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    return Add(OperationKind::kPut, family, key, value.size());
  }
  // Not `override`: RocksDB 7.8 may lack it.
  virtual rocksdb::Status TimedPutCF(uint32_t family, const rocksdb::Slice& key, const rocksdb::Slice& value,
                                     uint64_t) {
    return Add(OperationKind::kPut, family, key, value.size());
  }
  rocksdb::Status PutEntityCF(uint32_t family, const rocksdb::Slice& key,
                              const rocksdb::Slice& entity) override {
    ++notes_["wide-column entities replayed as values of their size"];
    return Add(OperationKind::kPut, family, key, entity.size());
  }
  rocksdb::Status MergeCF(uint32_t family, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    ++notes_["merges replayed as puts of their operands"];
    return Add(OperationKind::kPut, family, key, value.size());
  }
  rocksdb::Status DeleteCF(uint32_t family, const rocksdb::Slice& key) override {
    return Add(OperationKind::kDelete, family, key, 0);
  }
  rocksdb::Status SingleDeleteCF(uint32_t family, const rocksdb::Slice& key) override {
    ++notes_["single deletes replayed as deletes"];
    return Add(OperationKind::kDelete, family, key, 0);
  }
  rocksdb::Status DeleteRangeCF(uint32_t family, const rocksdb::Slice& begin,
                                const rocksdb::Slice& end) override {
    if (begin.compare(end) >= 0) {
      ++notes_[kEmptyRangeNote];
      return rocksdb::Status::OK();
    }
    const std::size_t before = added();
    rocksdb::Status status = Add(OperationKind::kDeleteRange, family, begin, 0);
    if (added() > before) {
      events_.back().bound = end.ToString();
    }
    return status;
  }
  rocksdb::Status PutBlobIndexCF(uint32_t, const rocksdb::Slice&, const rocksdb::Slice&) override {
    ++notes_["references to blobs left out"];
    return rocksdb::Status::OK();
  }
  void LogData(const rocksdb::Slice&) override {}
  rocksdb::Status MarkBeginPrepare(bool) override { return rocksdb::Status::OK(); }
  rocksdb::Status MarkEndPrepare(const rocksdb::Slice&) override { return rocksdb::Status::OK(); }
  rocksdb::Status MarkNoop(bool) override { return rocksdb::Status::OK(); }
  rocksdb::Status MarkRollback(const rocksdb::Slice&) override { return rocksdb::Status::OK(); }
  rocksdb::Status MarkCommit(const rocksdb::Slice&) override { return rocksdb::Status::OK(); }
  rocksdb::Status MarkCommitWithTimestamp(const rocksdb::Slice&, const rocksdb::Slice&) override {
    return rocksdb::Status::OK();
  }

  std::size_t added() const { return events_.size() - first_; }

 private:
  rocksdb::Status Add(OperationKind kind, uint32_t family, const rocksdb::Slice& key, uint64_t value_bytes) {
    if (added() >= kMaxRecordOperations) {
      ++notes_["operations of a batch beyond its first 200,000 left out"];
      return rocksdb::Status::OK();
    }
    TraceEvent& event = events_.emplace_back();
    event.time_us = time_us_;
    event.kind = kind;
    event.family_id = family;
    event.key = key.ToString();
    if (kind == OperationKind::kPut) {
      event.value_bytes = value_bytes;
    }
    return rocksdb::Status::OK();
  }

  const uint64_t time_us_;
  std::deque<TraceEvent>& events_;
  TraceNotes& notes_;
  const std::size_t first_;
};

}  // namespace

bool LooksLikeRocksDbTrace(const std::string& begin) { return begin.find(kMagic) != std::string::npos; }

QueryTrace::QueryTrace(const std::string& path) : bytes_(path) { ReadHeader(); }

void QueryTrace::Restart() {
  bytes_.Restart();
  notes_.clear();
  events_.clear();
  ended_ = false;
  ReadHeader();
}

void QueryTrace::ReadHeader() {
  std::string head;
  bytes_.Read(kRecordHeadBytes, &head);
  const std::size_t length = head.size() < kRecordHeadBytes
                                 ? 0
                                 : static_cast<std::size_t>(FixedNumber(head.data() + kTimeBytes + 1, 4));
  if (length > 0 && length <= kMaxHeaderBytes) {
    bytes_.Read(length, &payload_);
  }
  if (payload_.rfind(std::string(kMagic) + "\t", 0) != 0) {
    throw std::invalid_argument(
        bytes_.path() +
        ": is a trace of blocks or of I/O, or its first record is damaged; record a query "
        "trace with DB::StartTrace");
  }
  if (payload_.find("\tTrace Version: 0.2\t") == std::string::npos) {
    throw std::invalid_argument(
        bytes_.path() +
        ": has another version than 0.2, which RocksDB 6.18 to 11 write; record it with one of "
        "these");
  }
}

bool QueryTrace::Next(TraceEvent* event) {
  while (events_.empty()) {
    if (ended_ || !ReadRecord()) {
      return false;
    }
  }
  *event = std::move(events_.front());
  events_.pop_front();
  return true;
}

bool QueryTrace::End(const std::string& note) {
  ended_ = true;
  if (!note.empty()) {
    ++notes_[note];
  }
  if (const uint64_t left = bytes_.size() - bytes_.position(); left > 0) {
    notes_["bytes behind the last record left out"] += left;
  }
  return false;
}

bool QueryTrace::ReadRecord() {
  std::string head;
  bytes_.Read(kRecordHeadBytes, &head);
  if (head.size() < kRecordHeadBytes) {
    return End("the trace was cut: it lacks its end record");
  }
  const char type = head[kTimeBytes];
  const auto length = static_cast<std::size_t>(FixedNumber(head.data() + kTimeBytes + 1, 4));
  if (type == rocksdb::kTraceEnd) {
    return End("");
  }
  const bool known = type == rocksdb::kTraceWrite || type == rocksdb::kTraceGet ||
                     type == rocksdb::kTraceIteratorSeek || type == rocksdb::kTraceIteratorSeekForPrev ||
                     type == rocksdb::kTraceMultiGet;
  if (!known || length > kMaxPayloadBytes) {
    return End("the trace is damaged: it was read up to the first damaged record");
  }
  bytes_.Read(length, &payload_);
  if (payload_.size() < length) {
    return End("the trace was cut: it lacks its end record");
  }
  if (!Decode(type, FixedNumber(head.data(), kTimeBytes))) {
    ++notes_["malformed records left out"];
  }
  return true;
}

bool QueryTrace::Decode(char type, uint64_t time_us) {
  switch (type) {
    case rocksdb::kTraceWrite:
      return DecodeWrite(time_us);
    case rocksdb::kTraceGet:
      return DecodeGet(time_us);
    case rocksdb::kTraceMultiGet:
      return DecodeMultiGet(time_us);
    case rocksdb::kTraceIteratorSeekForPrev:
      ++notes_["seeks backwards replayed as scans forwards"];
      return DecodeSeek(time_us, true);
    default:
      return DecodeSeek(time_us, false);
  }
}

bool QueryTrace::DecodeWrite(uint64_t time_us) {
  std::string_view left = payload_;
  uint64_t fields = 0;
  std::string_view batch;
  if (!TakeFixed(&left, 8, &fields) || fields != Bit(kWriteBatch) || !TakeText(&left, &batch)) {
    return false;
  }
  BatchReader reader(time_us, &events_, &notes_);
  const rocksdb::Status status = rocksdb::WriteBatch(std::string(batch)).Iterate(&reader);
  if (reader.added() > 1) {
    ++notes_["write batches replayed as single operations"];
  }
  return status.ok();
}

bool QueryTrace::DecodeGet(uint64_t time_us) {
  std::string_view left = payload_;
  uint64_t fields = 0;
  uint64_t family = 0;
  std::string_view key;
  if (!TakeFixed(&left, 8, &fields) || fields != (Bit(kGetFamily) | Bit(kGetKey)) ||
      !TakeFixed(&left, 4, &family) || !TakeText(&left, &key)) {
    return false;
  }
  TraceEvent& event = events_.emplace_back();
  event.time_us = time_us;
  event.family_id = static_cast<uint32_t>(family);
  event.key = key;
  return true;
}

bool QueryTrace::DecodeSeek(uint64_t time_us, bool backwards) {
  std::string_view left = payload_;
  uint64_t fields = 0;
  uint64_t family = 0;
  std::string_view key;
  std::string_view lower;
  std::string_view upper;
  constexpr uint64_t kBounds = Bit(kLowerBound) | Bit(kUpperBound);
  if (!TakeFixed(&left, 8, &fields) || (fields & ~kBounds) != (Bit(kSeekFamily) | Bit(kSeekKey)) ||
      !TakeFixed(&left, 4, &family) || !TakeText(&left, &key) ||
      ((fields & Bit(kLowerBound)) != 0 && !TakeText(&left, &lower)) ||
      ((fields & Bit(kUpperBound)) != 0 && !TakeText(&left, &upper))) {
    return false;
  }
  TraceEvent& event = events_.emplace_back();
  event.time_us = time_us;
  event.kind = OperationKind::kScan;
  event.family_id = static_cast<uint32_t>(family);
  event.key = key;
  event.bound = backwards ? lower : upper;
  event.backwards = backwards;
  return true;
}

bool QueryTrace::DecodeMultiGet(uint64_t time_us) {
  std::string_view left = payload_;
  uint64_t fields = 0;
  uint64_t count = 0;
  std::string_view families;
  std::string_view keys;
  if (!TakeFixed(&left, 8, &fields) ||
      fields != (Bit(kMultiGetSize) | Bit(kMultiGetFamilies) | Bit(kMultiGetKeys)) ||
      !TakeFixed(&left, 4, &count) || !TakeText(&left, &families) || !TakeText(&left, &keys)) {
    return false;
  }
  ++notes_["multi-gets replayed as single gets"];
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t family = 0;
    std::string_view key;
    if (!TakeFixed(&families, 4, &family) || !TakeText(&keys, &key) || i == kMaxRecordOperations) {
      return false;
    }
    TraceEvent& event = events_.emplace_back();
    event.time_us = time_us;
    event.family_id = static_cast<uint32_t>(family);
    event.key = key;
  }
  return true;
}

}  // namespace rocktune
