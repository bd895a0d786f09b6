#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "rocktune/workload/workload_spec.h"

namespace rocktune {

// What the threads of one run share: the tables of the key chooser and the number of keys so far.
// Thread-safe; must outlive every stream made from it.
class WorkloadState {
 public:
  explicit WorkloadState(const WorkloadSpec& spec);
  ~WorkloadState();

  const WorkloadSpec& spec() const { return spec_; }
  // Keys that exist in the key space: the spec's, and one for each insert so far.
  uint64_t key_count() const { return key_count_.load(std::memory_order_relaxed); }
  // Takes the next new key's index.
  uint64_t NextInsert() { return key_count_.fetch_add(1, std::memory_order_relaxed); }

  struct Tables;
  const Tables& tables() const { return *tables_; }

 private:
  WorkloadSpec spec_;
  std::atomic<uint64_t> key_count_;
  std::unique_ptr<const Tables> tables_;
};

struct Operation {
  OperationKind kind;
  uint64_t key;          // index; for kGetAbsent one that no key has
  uint64_t scan_length;  // entries, for kScan
  uint64_t value_bytes;  // for kPut, kInsert, kReadModifyWrite
  // Nanoseconds of run time before which the operation must not start; -1 in a closed loop (but for the first
  // operation of a closed session that follows one with arrivals). Latency counts from here, so that a store
  // that falls behind shows it.
  int64_t intended_start_ns;
};

// One thread's sequence of operations: the same for the same spec, seed and thread, whatever the store does
// (but for the keys of `latest` and `insert`, which follow what all threads have inserted).
//
// Not thread-safe.
class OperationStream {
 public:
  // REQUIRES: thread < spec.threads.
  OperationStream(WorkloadState* state, uint64_t seed, uint64_t thread);
  ~OperationStream();

  // `now_ns`: run time, by which a closed session ends. A session with arrivals ends with its last operation,
  // however late the store is; the next intended start may lie in a later session, whose mix then holds.
  Operation Next(int64_t now_ns);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Writes the key with index `index` into `*key`: 8 bytes big endian, then '0' up to key_bytes (as db_bench).
// A kGetAbsent's index has the top bit set; its key is padded with '1', so that it lies between the keys that
// there are and a lookup gets as far as the filters. Where there is no padding (key_bytes 8) the bit stays
// set and the key lies behind all others.
// REQUIRES: key_bytes >= 8.
void EncodeKey(uint64_t index, uint64_t key_bytes, std::string* key);
// The index of an existing key. REQUIRES: at least 8 bytes.
uint64_t DecodeKey(const char* key);

// Values of a given compressibility: slices of a buffer made once. Thread-safe after construction.
class ValueSource {
 public:
  ValueSource(uint64_t seed, double compressed_fraction, uint64_t max_value_bytes);
  // The slice that begins at `position` (any number; equal positions give equal bytes). Who goes on by the
  // bytes taken gets values that do not resemble each other, out of memory that the processor has fetched
  // ahead. The bytes live as long as the source. REQUIRES: bytes <= max_value_bytes.
  const char* Slice(uint64_t position, uint64_t bytes) const;

 private:
  std::string buffer_;
};

}  // namespace rocktune
