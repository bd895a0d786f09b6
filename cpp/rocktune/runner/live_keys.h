#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace rocktune {

// Which keys a store holds, by index: one bit each, allocated in chunks as the key space grows.
//
// Thread-safe without locks. Writes to the same key at once may leave either's mark, as in the store.
class LiveKeys {
 public:
  LiveKeys();
  ~LiveKeys();
  LiveKeys(const LiveKeys&) = delete;
  LiveKeys& operator=(const LiveKeys&) = delete;

  // Marks a key and returns how many keys that adds: 1 or 0. REQUIRES: key < 2^40.
  int64_t Add(uint64_t key);
  // Unmarks a key and returns how many keys that adds: -1 or 0.
  int64_t Remove(uint64_t key);
  // Has the processor fetch the key's bit, which Add or Remove will want soon.
  void Prefetch(uint64_t key) { __builtin_prefetch(&WordOf(key)); }
  // Marks the keys 0 .. keys - 1 of an empty set.
  void AddFirst(uint64_t keys);

 private:
  static constexpr int kChunkBits = 22;  // keys per chunk: half a megabyte of bits
  static constexpr uint64_t kWordsPerChunk = (uint64_t{1} << kChunkBits) / 64;
  using Word = std::atomic<uint64_t>;

  Word& WordOf(uint64_t key);

  std::vector<std::atomic<Word*>> chunks_;
};

}  // namespace rocktune
