#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/status.h>

#include <functional>
#include <memory>
#include <mutex>

#include "rocktune/util/histogram.h"

namespace rocktune {

// Measures the durations of compactions of level 0, in the time of the store's Env. Thread-safe.
class Level0Listener : public rocksdb::EventListener {
 public:
  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo& job) override;

  // Returns the durations of all compactions up to now, in nanoseconds.
  Histogram::Snapshot Elapsed() const { return elapsed_ns_.TakeSnapshot(); }

 private:
  std::mutex mutex_;  // a histogram allows one writer at a time
  Histogram elapsed_ns_;
};

// Returns a listener that passes background errors on, which no operation of the store may return, and that
// disables RocksDB's recovery from them. `on_background_error` is called on RocksDB's threads.
std::shared_ptr<rocksdb::EventListener> NewBackgroundErrorListener(
    std::function<void(const rocksdb::Status&)> on_background_error);

}  // namespace rocktune
