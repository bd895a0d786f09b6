#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace rocktune {

// Counts the hits of a cache that holds the keys used last. Not thread-safe.
class LruHits {
 public:
  // REQUIRES: 0 < capacity < 2^32.
  explicit LruHits(std::size_t capacity);

  // Uses a key.
  void Use(uint64_t key);
  uint64_t uses() const { return uses_; }
  uint64_t hits() const { return hits_; }

 private:
  struct Node {
    uint64_t key;
    uint32_t newer, older;  // neighbours in a ring; node 0 lies between the newest and the oldest key
  };
  void Unlink(uint32_t node);
  void LinkAsNewest(uint32_t node);

  const std::size_t capacity_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, uint32_t> node_of_;
  uint64_t uses_ = 0;
  uint64_t hits_ = 0;
};

}  // namespace rocktune
