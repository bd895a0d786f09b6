#include "rocktune/runner/live_keys.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>

namespace rocktune {
namespace {

constexpr int kKeyBits = 40;

uint64_t BitOf(uint64_t key) { return uint64_t{1} << (key % 64); }

}  // namespace

LiveKeys::LiveKeys() : chunks_(std::size_t{1} << (kKeyBits - kChunkBits)) {}

LiveKeys::~LiveKeys() {
  for (std::atomic<Word*>& chunk : chunks_) {
    delete[] chunk.load(std::memory_order_relaxed);
  }
}

LiveKeys::Word& LiveKeys::WordOf(uint64_t key) {
  std::atomic<Word*>& slot = chunks_[key >> kChunkBits];
  Word* chunk = slot.load(std::memory_order_acquire);
  if (chunk == nullptr) {
    auto fresh = std::make_unique<Word[]>(kWordsPerChunk);
    // If another thread was faster, its chunk is used and this one is freed.
    if (slot.compare_exchange_strong(chunk, fresh.get(), std::memory_order_acq_rel)) {
      chunk = fresh.release();
    }
  }
  return chunk[(key / 64) % kWordsPerChunk];
}

int64_t LiveKeys::Add(uint64_t key) {
  Word& word = WordOf(key);
  // Most writes find their bit set. A load, unlike fetch_or, leaves the cache line shared between processors.
  if ((word.load(std::memory_order_relaxed) & BitOf(key)) != 0) {
    return 0;
  }
  return (word.fetch_or(BitOf(key), std::memory_order_relaxed) & BitOf(key)) == 0 ? 1 : 0;
}

int64_t LiveKeys::Remove(uint64_t key) {
  Word& word = WordOf(key);
  if ((word.load(std::memory_order_relaxed) & BitOf(key)) == 0) {
    return 0;
  }
  return (word.fetch_and(~BitOf(key), std::memory_order_relaxed) & BitOf(key)) == 0 ? 0 : -1;
}

int64_t LiveKeys::RemoveRange(uint64_t first, uint64_t keys) {
  int64_t change = 0;
  const uint64_t end = first + keys;
  for (uint64_t key = first; key < end; key = (key / 64 + 1) * 64) {
    const uint64_t in_word = std::min(end - key, 64 - key % 64);
    const uint64_t bits = (in_word == 64 ? ~uint64_t{0} : BitOf(in_word) - 1) << (key % 64);
    const uint64_t held = WordOf(key).fetch_and(~bits, std::memory_order_relaxed) & bits;
    change -= std::popcount(held);
  }
  return change;
}

void LiveKeys::AddFirst(uint64_t keys) {
  for (uint64_t key = 0; key < keys; key += 64) {
    const uint64_t bits = keys - key < 64 ? BitOf(keys) - 1 : ~uint64_t{0};
    WordOf(key).store(bits, std::memory_order_relaxed);
  }
}

void LiveKeys::AddAll(const KeyBits& bits) {
  for (std::size_t word = 0; word < bits.size(); ++word) {
    WordOf(word * 64).store(bits[word], std::memory_order_relaxed);
  }
}

}  // namespace rocktune
