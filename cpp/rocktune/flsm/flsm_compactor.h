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

// The compactions that a compactor has yet to do.
struct FlsmCompactionDebt {
  uint64_t due_tasks = 0;
  uint64_t running_tasks = 0;
  uint64_t bytes = 0;  // bytes that the due tasks will read
};

// Runs the compactions that an FLSM-tree's policy asks for, on a RocksDB database with compaction style None.
//
// - Threads: at least two. The first one only compacts level 0 and pushes level 1, so that level 0 never
//   waits for a deep merge. Tasks that use different runs are done at the same time.
// - Locks: no lock is held during I/O or while on_change is called. RocksDB's mutex may be taken with the
//   compactor's lock held, never the other way round.
// - Failure: a task that fails is retried after 200 ms, without end; LastFailure returns its error.
//
// Does not own database and recorder, which must outlive it. Thread-safe. Throws no exception.
class FlsmCompactor {
 public:
  // Called with the new shape after each change that must survive closing, and before a task fills a level
  // deeper than any in use. Called by any thread, without locks. Calls may arrive out of order: of two calls,
  // the one with the larger `number` is the later change.
  using OnChange = std::function<rocksdb::Status(const FlsmShape& shape, uint64_t number)>;
  // Starts the threads. `shape` holds size ratio, slots, policies and seals; the runs' sizes are read from
  // `db`. `reshape_bytes_per_s` is FlsmOptions' field. REQUIRES: `guard` is among the database's listeners;
  // Stop is called before the database is closed.
  FlsmCompactor(rocksdb::DB* db, std::shared_ptr<ManifestGuard> guard, FlsmRecorder* recorder,
                FlsmShape shape, int workers, uint64_t reshape_bytes_per_s, OnChange on_change);
  // Calls Stop.
  ~FlsmCompactor();
  FlsmCompactor(const FlsmCompactor&) = delete;
  FlsmCompactor& operator=(const FlsmCompactor&) = delete;

  // Prevents further compactions until Continue, and waits until no compaction runs. With `cancel`, running
  // compactions end without effect, and are due again after Continue. Calls nest: each needs a Continue.
  void Pause(bool cancel);
  // Ends one Pause.
  void Continue();
  // Cancels running compactions and ends the threads. A second call does nothing.
  void Stop();

  // Changes a level's policy, in memory at once. Returns InvalidArgument for a level or a policy out of
  // range, and for kLazy with FlsmGranularity::kFiles; nothing has changed then. Otherwise returns
  // on_change's status: the change holds, but may not survive closing.
  rocksdb::Status SetPolicy(int level, int policy, FlsmTransition transition);
  // Returns the present shape.
  FlsmShape Shape() const;
  // Waits until no compaction is due or running. Does not flush, and does not return OK while compactions
  // that are due are paused. Returns
  // - the error of a compaction that fails after the call;
  // - ShutdownInProgress if the compactor is stopped meanwhile;
  // - TimedOut after `timeout`; 0 means no timeout.
  rocksdb::Status WaitUntilSettled(std::chrono::microseconds timeout = {});
  // Sets the maximum number of files in level 0 and the size of tables; see FlsmShape.
  void SetLimits(uint64_t max_level0_files, uint64_t file_bytes);
  // Returns the due and running compactions.
  FlsmCompactionDebt Debt() const;
  // Returns the error of the latest compaction that failed; OK once one has succeeded since.
  rocksdb::Status LastFailure() const;

  // The listener and the store call these, from any thread. They do no I/O.
  //
  // Adds a flushed table to level 0.
  void OnFlushed(const FlsmTable& table);
  // Makes the compactor read all tables from RocksDB, because flushes may have ended without a call of
  // OnFlushed.
  void OnMissedFlushes();
  // Makes tables that the application has ingested part of the shape, before it returns. RocksDB puts them
  // into the deepest level that it can, where they may be a run that the policy did not make.
  void OnIngested();
  // Notes that a table's file was deleted, by a compaction or by the application.
  void OnDeleted(uint64_t number);

 private:
  using Clock = std::chrono::steady_clock;
  // Time since the last flush after which a store counts as idle.
  static constexpr std::chrono::seconds kIdleDelay{1};

  // The body of a thread. With `small_only`, as in the first thread, it does only tasks of level 0 and pushes
  // of level 1.
  void RunTasks(bool small_only);
  // Returns the task to do next. Returns nullopt if the thread has to wait, at most until `wake`. REQUIRES:
  // mutex_ is held.
  std::optional<FlsmTask> NextTask(bool small_only, Clock::time_point* wake);
  // Compacts the tables `used` into the task's output, and returns RocksDB's status. `made` receives the new
  // tables; it stays empty if RocksDB moved the tables.
  rocksdb::Status Compact(const FlsmTask& task, const std::vector<FlsmTable>& used,
                          std::vector<FlsmTable>* made);
  // Does a task from beginning to end. Releases `lock` during I/O. REQUIRES: `lock` holds mutex_, before and
  // after.
  void RunTask(const FlsmTask& task, std::unique_lock<std::mutex>* lock);
  // Brings the shape up to date with flushed tables and tables that others deleted. REQUIRES: mutex_ is held.
  void RefreshTables();
  // Reads all tables from RocksDB, and from them the runs and level 0 unless tasks use them. REQUIRES: mutex_
  // is held.
  void ReloadRuns();
  // Applies a successful task to tables and shape. REQUIRES: mutex_ is held.
  void CompleteTask(const FlsmTask& task, const std::vector<FlsmTable>& used,
                    const std::vector<FlsmTable>& made);

  rocksdb::DB* const db_;
  const std::shared_ptr<ManifestGuard> guard_;
  FlsmRecorder* const recorder_;
  const uint64_t reshape_bytes_per_s_;
  const OnChange on_change_;

  mutable std::mutex mutex_;  // guards the members below; never held during I/O
  std::condition_variable changed_;
  FlsmShape shape_;
  FlsmTables tables_;
  bool must_reload_ = true;              // true if tables_ must be read from RocksDB
  rocksdb::Status failure_;              // error of the latest compaction that failed
  uint64_t failures_ = 0;                // compactions that failed
  bool failing_ = false;                 // true if no compaction has succeeded since
  std::atomic<bool> cancelling_{false};  // RocksDB reads it without the lock and ends compactions
  uint64_t ingestions_ = 0;              // calls of OnIngested
  int paused_ = 0;                       // calls of Pause without Continue
  int running_ = 0;                      // tasks
  uint64_t changes_ = 0;                 // number of the latest change of the shape
  bool tables_changed_ = true;           // true if shape_ may lag behind tables_
  Clock::time_point reshape_at_;         // earliest time for the next IdleTask
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace rocktune
