#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "rocktune/workload/trace_file.h"

namespace rocktune {

// The set of keys that a store holds, by index. It needs one bit per key and allocates memory in chunks of
// half a megabyte as the key space grows.
//
// Thread-safe and lock-free. If two threads add and remove the same key at the same time, either may win; the
// store may then hold the opposite.
class LiveKeys {
 public:
  LiveKeys();
  ~LiveKeys();
  LiveKeys(const LiveKeys&) = delete;
  LiveKeys& operator=(const LiveKeys&) = delete;

  // All functions REQUIRE keys below 2^40.

  // Adds a key and returns the change of the number of keys: 1, or 0 if the set had it.
  int64_t Add(uint64_t key);
  // Removes a key and returns the change of the number of keys: -1, or 0 if the set did not have it.
  int64_t Remove(uint64_t key);
  // Removes the `keys` keys from `first` on and returns the change of the number of keys, at most 0.
  int64_t RemoveRange(uint64_t first, uint64_t keys);
  // Prefetches the key's bit into the cache for a call of Add or Remove that follows soon.
  void Prefetch(uint64_t key) { __builtin_prefetch(&WordOf(key)); }
  // Adds the keys 0 .. keys - 1. REQUIRES: the set is empty, and no other thread uses it.
  void AddFirst(uint64_t keys);
  // Adds the keys whose bits are set. REQUIRES: as for AddFirst.
  void AddAll(const KeyBits& bits);

 private:
  static constexpr int kChunkBits = 22;  // log2 of the keys per chunk: half a megabyte of bits
  static constexpr uint64_t kWordsPerChunk = (uint64_t{1} << kChunkBits) / 64;
  using Word = std::atomic<uint64_t>;

  // Returns the word with the key's bit; allocates its chunk if necessary.
  Word& WordOf(uint64_t key);

  std::vector<std::atomic<Word*>> chunks_;  // nullptr until allocated
};

}  // namespace rocktune
