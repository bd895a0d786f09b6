#pragma once

#include <atomic>
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
  struct Call {
    char operation;  // 'g' (Get), 'p' (Put), 'd' (Delete) or 's' (Scan)
    std::string key;
    bool operator==(const Call&) const = default;
  };

  // Called before each operation and Load, without a lock held. The operation returns the status, and does
  // nothing, if it is not OK.
  std::function<rocksdb::Status()> before_operation = [] { return rocksdb::Status::OK(); };

  // Called at the beginning of State, without a lock held.
  std::function<void()> before_state = [] {};
  // The status of writes that CurrentWriteCondition returns.
  std::atomic<WriteCondition> condition{WriteCondition::kNormal};

  rocksdb::Status Get(const rocksdb::Slice& key, rocksdb::PinnableSlice* value, bool* found) override {
    return Do('g', key, [&] {
      const auto entry = entries_.find(key.ToString());
      *found = entry != entries_.end();
      if (*found) {
        value->PinSelf(entry->second);
      }
    });
  }
  rocksdb::Status Put(const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    return Do('p', key, [&] { entries_[key.ToString()] = value.ToString(); });
  }
  rocksdb::Status Delete(const rocksdb::Slice& key) override {
    return Do('d', key, [&] { entries_.erase(key.ToString()); });
  }
  rocksdb::Status Scan(const rocksdb::Slice& start, uint64_t entries, uint64_t* read,
                       uint64_t* bytes) override {
    return Do('s', start, [&] {
      for (auto entry = entries_.lower_bound(start.ToString()); entry != entries_.end() && entries > 0;
           ++entry, --entries) {
        ++*read;
        *bytes += entry->first.size() + entry->second.size();
      }
    });
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
  StoreState State() override {
    before_state();
    StoreState state;
    std::lock_guard<std::mutex> lock(mutex_);
    state.tickers["fake.calls"] = calls_.size();
    return state;
  }
  void ResetStatistics() override {}
  rocksdb::Status Close() override { return rocksdb::Status::OK(); }

  // Returns the successful calls of the four operations, in order.
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
  template <typename Effect>
  rocksdb::Status Do(char operation, const rocksdb::Slice& key, Effect effect) {
    rocksdb::Status status = before_operation();
    if (status.ok()) {
      std::lock_guard<std::mutex> lock(mutex_);
      calls_.push_back({operation, key.ToString()});
      effect();
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
