#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "rocktune/runner/store.h"

namespace rocktune {

// A store in memory for the runner's tests, which records its calls. Thread-safe, except that the public
// members must be set before the store is used; `condition` may be set at any time.
class FakeStore : public Store {
 public:
  static constexpr uint64_t kMemtableBytes = 7;

  struct Call {
    char operation;  // 'g' (Get), 'p' (Put), 'd' (Delete), 'r' (DeleteRange) or 's' (Scan)
    std::string key;
    bool operator==(const Call&) const = default;
  };

  // Called before each operation and Load, without a lock held. The operation returns the status, and does
  // nothing, if it is not OK.
  std::function<rocksdb::Status()> before_operation = [] { return rocksdb::Status::OK(); };

  // Called at the beginning of State, without a lock held.
  std::function<void()> before_state = [] {};
  // The number of column families. The keys of the second one begin with "1:", and so on.
  std::size_t families = 1;
  // The status of writes that CurrentWriteCondition returns.
  std::atomic<WriteCondition> condition{WriteCondition::kNormal};

  rocksdb::Status Get(std::size_t family, const rocksdb::Slice& key, rocksdb::PinnableSlice* value,
                      bool* found) override {
    return Do('g', family, key, [&](const std::string& stored) {
      const auto entry = entries_.find(stored);
      *found = entry != entries_.end();
      if (*found) {
        value->PinSelf(entry->second);
      }
    });
  }
  rocksdb::Status Put(std::size_t family, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    return Do('p', family, key, [&](const std::string& stored) { entries_[stored] = value.ToString(); });
  }
  rocksdb::Status Delete(std::size_t family, const rocksdb::Slice& key) override {
    return Do('d', family, key, [&](const std::string& stored) { entries_.erase(stored); });
  }
  rocksdb::Status DeleteRange(std::size_t family, const rocksdb::Slice& begin,
                              const rocksdb::Slice& end) override {
    return Do('r', family, begin, [&](const std::string& stored) {
      entries_.erase(entries_.lower_bound(stored), entries_.lower_bound(Stored(family, end)));
    });
  }
  rocksdb::Status Scan(std::size_t family, const rocksdb::Slice& start, uint64_t entries, uint64_t* read,
                       uint64_t* bytes) override {
    return Do('s', family, start, [&](const std::string& stored) {
      for (auto entry = entries_.lower_bound(stored); entry != entries_.end() && entries > 0;
           ++entry, --entries) {
        ++*read;
        *bytes += entry->first.size() + entry->second.size();
      }
    });
  }
  rocksdb::Status AddTo(rocksdb::WriteBatch* batch, std::size_t family, const rocksdb::Slice& key,
                        const rocksdb::Slice& value) override {
    return batch->Put(Stored(family, key), value);
  }
  rocksdb::Status Load(rocksdb::WriteBatch* batch) override {
    struct Inserter : rocksdb::WriteBatch::Handler {
      explicit Inserter(FakeStore* target) : store(target) {}
      void Put(const rocksdb::Slice& key, const rocksdb::Slice& value) override {
        store->entries_[key.ToString()] = value.ToString();
        store->loaded_.push_back(key.ToString());
      }
      FakeStore* store;
    };
    const rocksdb::Status status = before_operation();
    std::lock_guard<std::mutex> lock(mutex_);
    Inserter inserter(this);
    return status.ok() ? batch->Iterate(&inserter) : status;
  }
  rocksdb::Status Flush() override {
    flushed_ = true;
    return rocksdb::Status::OK();
  }
  uint64_t PendingCompactionBytes() override { return 0; }
  bool CompactionRunning() override { return false; }
  bool CompactionDue() override { return false; }
  WriteCondition CurrentWriteCondition() override { return condition; }
  uint64_t MemtableBytes() override { return kMemtableBytes; }
  uint64_t DataBytes() override {
    std::lock_guard<std::mutex> lock(mutex_);
    return calls_.size();
  }
  StoreState State() override {
    before_state();
    StoreState state;
    std::lock_guard<std::mutex> lock(mutex_);
    state.families.resize(families);
    state.tickers["fake.calls"] = calls_.size();
    return state;
  }
  void ResetStatistics() override {}
  rocksdb::Status Close() override { return rocksdb::Status::OK(); }

  // Returns the successful calls of the operations, in order.
  std::vector<Call> calls() {
    std::lock_guard<std::mutex> lock(mutex_);
    return calls_;
  }
  // Returns a copy of the entries.
  std::map<std::string, std::string> entries() {
    std::lock_guard<std::mutex> lock(mutex_);
    return entries_;
  }
  // Returns the loaded keys, in the order of loading.
  std::vector<std::string> loaded() {
    std::lock_guard<std::mutex> lock(mutex_);
    return loaded_;
  }
  // Returns true once Flush has been called.
  bool flushed() const { return flushed_; }

 private:
  static std::string Stored(std::size_t family, const rocksdb::Slice& key) {
    return (family == 0 ? "" : std::to_string(family) + ":") + key.ToString();
  }

  template <typename Effect>
  rocksdb::Status Do(char operation, std::size_t family, const rocksdb::Slice& key, Effect effect) {
    rocksdb::Status status = before_operation();
    if (status.ok()) {
      std::lock_guard<std::mutex> lock(mutex_);
      calls_.push_back({operation, Stored(family, key)});
      effect(calls_.back().key);
    }
    return status;
  }

  std::mutex mutex_;
  std::vector<Call> calls_;
  std::vector<std::string> loaded_;
  std::map<std::string, std::string> entries_;
  bool flushed_ = false;
};

}  // namespace rocktune
