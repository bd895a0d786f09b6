#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace rocktune {

class FlsmCompactor;

// The threads that run the compactions of all column families of a store.
//
// - The first thread only compacts level 0 and pushes level 1, so that no level 0 waits for a deep merge. The
//   others do any task.
// - Fairness: a free thread serves the family with the fewest running compactions. Among equals it serves the
//   one whose latest compaction began first. So no family gets a second thread while another one that has a
//   due compaction waits for its first.
//
// Does not own the database, which must outlive it. Thread-safe. A compactor may call Wake with its lock
// held; the workers call compactors without theirs. Throws no exception.
class FlsmWorkers {
 public:
  explicit FlsmWorkers(rocksdb::DB* db) : db_(db) {}
  // Calls Stop.
  ~FlsmWorkers();
  FlsmWorkers(const FlsmWorkers&) = delete;
  FlsmWorkers& operator=(const FlsmWorkers&) = delete;

  // Serves a compactor, too, with at least `threads` threads for all compactors, and at least two.
  void Add(std::shared_ptr<FlsmCompactor> compactor, int threads);
  // Ends Add. The compactor's running compactions go on.
  void Remove(const FlsmCompactor* compactor);
  // Notes that a compaction may have become due.
  void Wake();

  // Prevents further compactions until Continue, and waits until no compaction runs. With `cancel`, running
  // compactions end without effect, and are due again after Continue. Calls nest: each needs a Continue.
  void Pause(bool cancel);
  // Ends one Pause.
  void Continue();
  // Cancels running compactions and ends the threads. A second call does nothing.
  void Stop();
  // True while compactions are being canceled. RocksDB reads it and ends them.
  std::atomic<bool>* cancelling() { return &cancelling_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Compactors = std::vector<std::shared_ptr<FlsmCompactor>>;

  // The body of a thread. With `small_only`, as in the first thread, it does only tasks of level 0 and pushes
  // of level 1.
  void Run(bool small_only);
  // Runs one compaction of one of the families, in the order of fairness. Returns false if nothing is due; a
  // family may have a task from `*wake` on.
  static bool RunOne(Compactors compactors, bool small_only, Clock::time_point* wake);

  rocksdb::DB* const db_;
  std::atomic<bool> cancelling_{false};

  std::mutex mutex_;  // guards the members below; never held while a compactor is called
  std::condition_variable changed_;
  Compactors compactors_;
  uint64_t wakes_ = 0;  // calls of Wake
  int busy_ = 0;        // threads that look for a task or run one
  int paused_ = 0;      // calls of Pause without Continue
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace rocktune
