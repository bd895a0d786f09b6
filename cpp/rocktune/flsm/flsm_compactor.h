#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/status.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/flsm/flsm_recorder.h"
#include "rocktune/flsm/flsm_runs.h"
#include "rocktune/flsm/flsm_tables.h"
#include "rocktune/flsm_shape.h"
#include "rocktune/util/manifest_guard.h"

namespace rocktune {

// Work that a compactor has.
struct FlsmOwed {
  uint64_t due_tasks = 0;
  uint64_t running_tasks = 0;
  uint64_t bytes = 0;  // that the due ones read
};

// Does what an FLSM-tree's policy asks for on a RocksDB database that compacts nothing by itself.
//
// Has threads of its own, of which the first does nothing but small work, so that level 0 never waits for a
// deep merge. Thread-safe. Database and recorder must outlive it; Stop before the database is closed. Throws
// nothing.
class FlsmCompactor {
 public:
  // `shape` says size ratio, slots, policies and which runs are sealed; what the runs hold is read from `db`.
  // `on_change` is called, without locks, after each change of the shape that is to survive and before a
  // level is used that none so deep was, by any thread; of two calls that cross, the one with the larger
  // number is the later change. `reshape_bytes_per_s` is FlsmOptions'; `guard` is among the database's
  // listeners.
  using OnChange = std::function<rocksdb::Status(const FlsmShape& shape, uint64_t number)>;
  FlsmCompactor(rocksdb::DB* db, std::shared_ptr<ManifestGuard> guard, FlsmRecorder* recorder,
                FlsmShape shape, int workers, uint64_t reshape_bytes_per_s, OnChange on_change);
  ~FlsmCompactor();
  FlsmCompactor(const FlsmCompactor&) = delete;
  FlsmCompactor& operator=(const FlsmCompactor&) = delete;

  // Returns when nothing is in work, and lets nothing begin before Continue; with `calls_off` what is in work
  // is given up, and done when it goes on. As often as Pause was called Continue has to be.
  void Pause(bool calls_off);
  void Continue();
  // Ends the threads; compactions in work are given up, and begun again when the store is opened. Idempotent.
  void Stop();

  // InvalidArgument for a level or a policy that there is not, and for a lazy change with files; what
  // `on_change` says otherwise.
  rocksdb::Status SetPolicy(int level, int policy, FlsmTransition transition);
  FlsmShape Shape() const;
  // Returns OK when nothing is due or in work, the failure once a compaction has failed since it was called,
  // and ShutdownInProgress if the compactor is stopped meanwhile. Flushes nothing, and waits for Continue
  // where it is paused. A `timeout` above 0 ends it with TimedOut.
  rocksdb::Status WaitUntilSettled(std::chrono::microseconds timeout = {});
  // From now on so many files may wait in level 0, and tables have so many bytes; see FlsmShape.
  void SetLimits(uint64_t max_level0_files, uint64_t file_bytes);
  // What is due and what runs.
  FlsmOwed Owed() const;
  // The last failure of a compaction, which is tried again; OK since one has succeeded.
  rocksdb::Status LastFailure() const;

  // To be called when a flush has ended that made a table; from any thread, holds nothing up.
  void OnFlushed(const FlsmTable& table);
  // To be called when flushes may have ended that nobody told of.
  void OnMissedFlushes();
  // To be called when a table's file has been deleted, for whatever reason; from any thread.
  void OnDeleted(uint64_t number);

 private:
  using Clock = std::chrono::steady_clock;

  void Work(bool small_only);
  // What this worker does next; nothing if it has to wait, until `wake` at most. REQUIRES: mutex_ is held.
  std::optional<FlsmTask> Next(bool small_only, Clock::time_point* wake);
  // Compacts tables as a task says.
  rocksdb::Status Compact(const FlsmTask& task, const std::vector<FlsmTable>& used,
                          std::vector<FlsmTable>* made);
  // Does a task that has begun. REQUIRES: `lock` holds mutex_, before and after.
  void Do(const FlsmTask& task, std::unique_lock<std::mutex>* lock);
  // Takes over what was flushed, and what others have deleted. REQUIRES: mutex_ is held.
  void RefreshTables();
  // Ends a task with success, which made others of tables. REQUIRES: mutex_ is held.
  void End(const FlsmTask& task, const std::vector<FlsmTable>& used, const std::vector<FlsmTable>& made);

  rocksdb::DB* const db_;
  const std::shared_ptr<ManifestGuard> guard_;
  FlsmRecorder* const recorder_;
  const uint64_t reshape_bytes_per_s_;
  const OnChange on_change_;

  mutable std::mutex mutex_;  // guards what follows; never held during I/O
  std::condition_variable changed_;
  FlsmShape shape_;
  FlsmTables tables_;
  bool reload_ = true;       // tables_ has to be read anew
  rocksdb::Status failure_;  // of the compaction that has failed last
  uint64_t failures_ = 0;
  bool fails_ = false;                 // none has succeeded since
  std::atomic<bool> stopping_{false};  // calls compactions in work off
  int paused_ = 0;
  int running_ = 0;
  uint64_t changes_ = 0;
  bool flushed_ = true;
  Clock::time_point reshape_at_;  // the earliest
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace rocktune
