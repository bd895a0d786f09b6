#include "rocktune/migrate/entry_stream.h"

#include <rocksdb/options.h>
#include <rocksdb/wide_columns.h>

#include "rocktune/runner/run_error.h"

namespace rocktune {
namespace {

constexpr std::size_t kReadaheadBytes = 2 << 20;

rocksdb::ReadOptions StreamOptions() {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;  // otherwise a prefix extractor would hide entries
  options.fill_cache = false;
  options.readahead_size = kReadaheadBytes;
  options.verify_checksums = true;
  return options;
}

// FNV-1a, 64 bits.
class Checksum {
 public:
  void Add(const rocksdb::Slice& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      AddByte(static_cast<unsigned char>(bytes[i]));
    }
    // The length keeps "ab", "c" and "a", "bc" apart.
    Add(bytes.size());
  }
  void Add(uint64_t number) {
    for (std::size_t i = 0; i < sizeof(number); ++i, number >>= 8) {
      AddByte(number & 0xFF);
    }
  }
  uint64_t value() const { return value_; }

 private:
  void AddByte(uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001B3; }

  uint64_t value_ = 0xCBF29CE484222325;
};

}  // namespace

EntryStream::EntryStream(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle, const MigratedFamily& family,
                         bool backwards)
    : family_(family), backwards_(backwards), iterator_(db->NewIterator(StreamOptions(), handle)) {
  backwards_ ? iterator_->SeekToLast() : iterator_->SeekToFirst();
}

void EntryStream::Next() { backwards_ ? iterator_->Prev() : iterator_->Next(); }

void EntryStream::SeekAfter(const rocksdb::Slice& key) {
  backwards_ ? iterator_->SeekForPrev(key) : iterator_->Seek(key);
  if (Valid() && this->key() == key) {
    Next();
  }
}

void EntryStream::SeekToLast() { backwards_ ? iterator_->SeekToFirst() : iterator_->SeekToLast(); }

void EntryStream::Check() const {
  const rocksdb::Status status = iterator_->status();
  if (status.IsCorruption() && !family_.unknown_merge_operator.empty() &&
      status.ToString().find("merge") != std::string::npos) {
    throw UnmergedOperands(family_);
  }
  if (!status.ok()) {
    throw StoreError("column family '" + family_.name + "' cannot be read", status);
  }
}

bool EntryStream::IsWide() const {
  const rocksdb::WideColumns& all = columns();
  return all.size() != 1 || all.front().name() != rocksdb::kDefaultWideColumnName;
}

uint64_t EntryStream::Bytes() const {
  uint64_t bytes = key().size();
  for (const rocksdb::WideColumn& column : columns()) {
    bytes += column.name().size() + column.value().size();
  }
  return bytes;
}

FamilyDigest DigestOf(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle, const MigratedFamily& family,
                      bool backwards, ByteProgress* progress) {
  FamilyDigest digest{family.name};
  Checksum checksum;
  EntryStream stream(db, handle, family, backwards);
  for (; stream.Valid(); stream.Next()) {
    checksum.Add(stream.key());
    checksum.Add(stream.columns().size());
    for (const rocksdb::WideColumn& column : stream.columns()) {
      checksum.Add(column.name());
      checksum.Add(column.value());
    }
    const uint64_t bytes = stream.Bytes();
    ++digest.entries;
    digest.bytes += bytes;
    progress->Add(bytes);
  }
  stream.Check();
  digest.checksum = checksum.value();
  return digest;
}

}  // namespace rocktune
