#include "rocktune/flsm/flsm_trees.h"

#include <algorithm>
#include <map>

namespace rocktune {
namespace {

// Counts the entries of a batch by column family.
class EntriesByFamily : public rocksdb::WriteBatch::Handler {
 public:
  using Slice = rocksdb::Slice;
  using Status = rocksdb::Status;

  Status PutCF(uint32_t family, const Slice&, const Slice&) override { return Count(family); }
  Status PutEntityCF(uint32_t family, const Slice&, const Slice&) override { return Count(family); }
  Status DeleteCF(uint32_t family, const Slice&) override { return Count(family); }
  Status SingleDeleteCF(uint32_t family, const Slice&) override { return Count(family); }
  Status DeleteRangeCF(uint32_t family, const Slice&, const Slice&) override { return Count(family); }
  Status MergeCF(uint32_t family, const Slice&, const Slice&) override { return Count(family); }
  Status PutBlobIndexCF(uint32_t family, const Slice&, const Slice&) override { return Count(family); }

  const std::map<uint32_t, uint64_t>& entries() const { return entries_; }

 private:
  Status Count(uint32_t family) {
    ++entries_[family];
    return Status::OK();
  }

  std::map<uint32_t, uint64_t> entries_;
};

}  // namespace

FlsmTrees::FlsmTrees() : nothing_(rocksdb::Env::Default(), 0, 1, std::make_shared<std::atomic<int>>(0)) {}

std::vector<FlsmShare> FlsmTrees::SharesOf(const rocksdb::WriteBatch& batch, uint64_t represented) {
  EntriesByFamily counter;
  // An error means an entry of another kind; those before it have been counted.
  batch.Iterate(&counter).PermitUncheckedError();
  uint64_t entries = 0;
  for (const auto& [id, count] : counter.entries()) {
    entries += count;
  }
  std::vector<FlsmShare> shares;
  uint64_t before = 0;
  for (const auto& [id, count] : counter.entries()) {
    const uint64_t until = before + count;
    // Differences of rounded sums, so that all shares together are `represented`.
    const uint64_t writes = represented * until / entries - represented * before / entries;
    const double part = static_cast<double>(count) / static_cast<double>(entries);
    if (const FlsmTree* tree = FindId(id); tree != nullptr) {
      shares.push_back({tree->recorder.get(), writes, static_cast<double>(represented) * part});
    }
    before = until;
  }
  return shares;
}

void FlsmTrees::Add(const std::shared_ptr<FlsmTree>& tree) {
  const std::lock_guard<std::mutex> lock(mutex_);
  trees_.push_back(tree);
  Node* node = nodes_.emplace_back(std::make_unique<Node>()).get();
  node->id = tree->id;
  node->tree = tree;
  std::atomic<Node*>& first = buckets_[tree->id % kBuckets];
  node->next.store(first.load());
  first.store(node, std::memory_order_release);
}

void FlsmTrees::Remove(uint32_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(trees_, [id](const auto& tree) { return tree->id == id; });
  std::atomic<Node*>* link = &buckets_[id % kBuckets];
  while (Node* node = link->load()) {
    if (node->id == id) {
      link->store(node->next.load());
      node->tree.reset();  // nobody looks for this family any more; others only read `id` and `next`
      return;
    }
    link = &node->next;
  }
}

FlsmTrees::Trees FlsmTrees::All() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return trees_;
}

}  // namespace rocktune
