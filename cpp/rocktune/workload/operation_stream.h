#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/workload/workload_spec.h"

namespace rocktune {

class TraceReplay;

// The state that the threads of one run share: the precomputed distributions and the numbers of keys.
// Thread-safe. It must outlive every OperationStream created with it.
class WorkloadState {
 public:
  // Copies the spec and computes its distributions. Throws std::invalid_argument as NewKeyChooser and
  // TraceReplay do.
  // REQUIRES: a spec that WorkloadSpecFromJson accepts and, if it has a trace, ResolveTrace has completed.
  explicit WorkloadState(const WorkloadSpec& spec);
  ~WorkloadState();

  // Returns the spec; the state holds a copy.
  const WorkloadSpec& spec() const { return spec_; }
  // Returns the number of keys in a family's key space: the spec's, and one for each insert so far.
  uint64_t key_count(std::size_t family) const { return key_counts_[family].load(std::memory_order_relaxed); }
  // Adds a key to a family's key space and returns its index.
  uint64_t NextInsert(std::size_t family) {
    return key_counts_[family].fetch_add(1, std::memory_order_relaxed);
  }
  // Returns the oldest key of a family that NextRemoval has not removed; key_count() if all are removed.
  uint64_t oldest_key(std::size_t family) const {
    return oldest_keys_[family].load(std::memory_order_relaxed);
  }
  // Removes the oldest key of a family and returns its index. If all keys are removed, it removes none and
  // returns key_count(), the index of a key that does not exist.
  uint64_t NextRemoval(std::size_t family) {
    uint64_t keys = 1;
    return NextRemovals(family, &keys);
  }
  // Removes the `*keys` oldest keys of a family, or all if there are fewer, and returns the index of the
  // first one. Sets `*keys` to the number of removed keys; to 1 if all keys are removed, and returns what
  // NextRemoval does. REQUIRES: *keys >= 1.
  uint64_t NextRemovals(std::size_t family, uint64_t* keys);

  // The distributions of keys, sizes and arrivals; defined in the .cc file.
  struct Tables;
  const Tables& tables() const { return *tables_; }
  // Returns the trace whose operations the streams return, or nullptr.
  TraceReplay* replay() const { return replay_.get(); }

 private:
  WorkloadSpec spec_;
  std::vector<std::atomic<uint64_t>> key_counts_;   // by family
  std::vector<std::atomic<uint64_t>> oldest_keys_;  // by family; used by key chooser `oldest` alone
  std::unique_ptr<const Tables> tables_;
  std::unique_ptr<TraceReplay> replay_;
};

// An operation of a workload.
struct Operation {
  OperationKind kind;
  std::size_t family;    // index in WorkloadSpec::families
  uint64_t key;          // the key's index; for kGetAbsent an index without a key, see EncodeKey
  uint64_t scan_length;  // number of entries to read; used by kScan, 0 otherwise
  uint64_t value_bytes;  // used by kPut, kInsert and kReadModifyWrite, 0 otherwise
  // Number of keys to delete, from `key` on; used by kDeleteRange, 0 otherwise. A trace's range may have 0.
  uint64_t range_keys;
  // The run time, in nanoseconds, at which the operation is to start; -1 means at once (a closed loop). The
  // first operation of a closed session has a time if the session is entered before its beginning. Latency
  // counts from this time, so that it includes the wait if the store falls behind.
  int64_t intended_start_ns;
};

// The sequence of operations of one load thread. Equal specs, seeds and threads give equal sequences,
// whatever the store does. Of a trace, a thread gets the next operation that no thread has got. Only the keys
// of `latest`, `oldest` and `insert` depend on the operations of all threads, and only the starts of closed
// sessions depend on the time. Not thread-safe.
class OperationStream {
 public:
  // Creates the stream of the thread with index `thread`. REQUIRES: thread < spec.threads.
  OperationStream(WorkloadState* state, uint64_t seed, uint64_t thread);
  ~OperationStream();

  // Returns the thread's next operation. `now_ns` is the present run time, in nanoseconds. A closed session
  // ends at its time; a session with arrivals ends with its last operation, however late the store is. The
  // operation is drawn from the mix of the session in which it is to start.
  // Throws std::invalid_argument if the file of a trace cannot be read.
  Operation Next(int64_t now_ns);
  // Returns true if the operation that Next has returned may start. It must wait for earlier operations of a
  // trace on the same key.
  bool MayStart() const;
  // Marks the operation that Next has returned as performed. Must be called before Next is called again.
  void Done();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Sets `*key` to the key with the given index: the index in 8 bytes, big endian, padded with '0' to
// `key_bytes` as in db_bench. The index of a kGetAbsent has the top bit set. Its key is the index without
// that bit, padded with '1': it lies between existing keys, so that a lookup reaches the tables' filters.
// Without room for padding (key_bytes is 8) the bit stays set, and the key lies after all others.
// REQUIRES: key_bytes >= 8.
void EncodeKey(uint64_t index, uint64_t key_bytes, std::string* key);
// Returns the index of a key that EncodeKey made for an index without the top bit.
// REQUIRES: `key` points to at least 8 bytes.
uint64_t DecodeKey(const char* key);

// A source of values that compress to a given fraction of their size: slices of one buffer, which the
// constructor fills. Immutable, hence thread-safe.
class ValueSource {
 public:
  // The buffer has 1 MiB and `max_value_bytes`.
  ValueSource(uint64_t seed, double compressed_fraction, uint64_t max_value_bytes);
  // Returns `bytes` bytes of the buffer, which the source owns. Equal positions give equal bytes; any number
  // is a valid position. A caller that advances its position by the bytes used gets dissimilar values, from
  // memory that the processor has prefetched.
  // REQUIRES: bytes <= max_value_bytes.
  const char* Slice(uint64_t position, uint64_t bytes) const;

 private:
  std::string buffer_;
};

// The value sources of a workload by column family. Families with the same value_compressed_fraction share
// one, so that it stays in the processor's cache.
using ValueSources = std::vector<std::shared_ptr<const ValueSource>>;
ValueSources NewValueSources(const WorkloadSpec& spec, uint64_t seed);

}  // namespace rocktune
