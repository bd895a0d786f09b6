#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rocktune/flsm/flsm_compactor.h"
#include "rocktune/flsm/flsm_recorder.h"
#include "rocktune/flsm_options.h"

namespace rocktune {

// A column family of an open store.
struct FlsmTree {
  std::string name;
  uint32_t id = 0;
  // Owned, and handed to the caller as well: RocksDB gives a family's handle only once, and compactions need
  // it as long as the family lives. nullptr once it is released.
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  int level0_runs = 0;         // FlsmOptions'
  bool owns_filters = false;   // true if the layout has filters
  int shape_number = 0;        // its number in FlsmShapeFile
  uint64_t first_entries = 0;  // entries that were in the memtable when the family was opened
  std::unique_ptr<FlsmRecorder> recorder;
  std::shared_ptr<FlsmCompactor> compactor;
  std::atomic<bool> dropped{false};
};

// The column families of a store, found by their handles without locks. Thread-safe. Throws no exception.
class FlsmTrees {
 public:
  using Trees = std::vector<std::shared_ptr<FlsmTree>>;

  FlsmTrees();
  FlsmTrees(const FlsmTrees&) = delete;
  FlsmTrees& operator=(const FlsmTrees&) = delete;

  // Returns the family of a handle; nullptr for one that the store does not know. nullptr is the default
  // family, as DefaultColumnFamily returns it from a closed database. Wait-free. The tree lives until Remove.
  FlsmTree* Find(const rocksdb::ColumnFamilyHandle* family) const {
    return FindId(family == nullptr ? 0 : const_cast<rocksdb::ColumnFamilyHandle*>(family)->GetID());
  }
  // Returns the recorder of a handle's family. That of an unknown one records nothing.
  FlsmRecorder* RecorderOf(const rocksdb::ColumnFamilyHandle* family) {
    const FlsmTree* tree = Find(family);
    return tree == nullptr ? &nothing_ : tree->recorder.get();
  }
  // Divides a batch, which stands for `represented` writes, among its families by their entries.
  std::vector<FlsmShare> SharesOf(const rocksdb::WriteBatch& batch, uint64_t represented);

  // Adds a family. REQUIRES: its id is new.
  void Add(const std::shared_ptr<FlsmTree>& tree);
  // Removes a family. REQUIRES: no call with its handle is running or follows.
  void Remove(uint32_t id);
  // Returns all families, dropped ones included.
  Trees All() const;

 private:
  // A family in a bucket's list. A node stays in memory until the store is closed, because a reader of the
  // same bucket may be at it.
  struct Node {
    uint32_t id = 0;
    std::shared_ptr<FlsmTree> tree;
    std::atomic<Node*> next{nullptr};
  };
  static constexpr std::size_t kBuckets = 64;

  FlsmTree* FindId(uint32_t id) const {
    const Node* node = buckets_[id % kBuckets].load(std::memory_order_acquire);
    while (node != nullptr && node->id != id) {
      node = node->next.load(std::memory_order_acquire);
    }
    return node == nullptr ? nullptr : node->tree.get();
  }

  FlsmRecorder nothing_;
  std::array<std::atomic<Node*>, kBuckets> buckets_{};
  mutable std::mutex mutex_;  // guards the members below; held by those that change a bucket
  std::vector<std::unique_ptr<Node>> nodes_;
  Trees trees_;
};

}  // namespace rocktune
