#include "rocktune/trace/lru_hits.h"

namespace rocktune {

LruHits::LruHits(std::size_t capacity) : capacity_(capacity), nodes_(1, Node{0, 0, 0}) {}

void LruHits::Unlink(uint32_t node) {
  nodes_[nodes_[node].newer].older = nodes_[node].older;
  nodes_[nodes_[node].older].newer = nodes_[node].newer;
}

void LruHits::LinkAsNewest(uint32_t node) {
  const uint32_t before = nodes_[0].older;
  nodes_[node].newer = 0;
  nodes_[node].older = before;
  nodes_[before].newer = node;
  nodes_[0].older = node;
}

void LruHits::Use(uint64_t key) {
  ++uses_;
  const auto found = node_of_.find(key);
  if (found != node_of_.end()) {
    ++hits_;
    Unlink(found->second);
    LinkAsNewest(found->second);
    return;
  }
  uint32_t node = static_cast<uint32_t>(nodes_.size());
  if (node_of_.size() < capacity_) {
    nodes_.push_back({key, 0, 0});
  } else {
    node = nodes_[0].newer;  // the oldest key
    Unlink(node);
    node_of_.erase(nodes_[node].key);
    nodes_[node].key = key;
  }
  LinkAsNewest(node);
  node_of_[key] = node;
}

}  // namespace rocktune
