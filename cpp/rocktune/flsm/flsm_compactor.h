#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/status.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "rocktune/flsm/flsm_commits.h"
#include "rocktune/flsm/flsm_policy.h"
#include "rocktune/flsm/flsm_recorder.h"
#include "rocktune/flsm/flsm_runs.h"
#include "rocktune/flsm/flsm_tables.h"
#include "rocktune/flsm/flsm_workers.h"
#include "rocktune/flsm_shape.h"

namespace rocktune {

// The compactions that a compactor has yet to do.
struct FlsmCompactionDebt {
  uint64_t due_tasks = 0;
  uint64_t running_tasks = 0;
  uint64_t bytes = 0;  // bytes that the due tasks will read
};

// The claim of a family on the next free thread; the smaller one is served first.
struct FlsmTurn {
  int running = 0;        // compactions that run
  uint64_t begun_ns = 0;  // time when the latest one began; 0 before the first

  bool operator<(const FlsmTurn& other) const {
    return std::tie(running, begun_ns) < std::tie(other.running, other.begun_ns);
  }
};

// Runs the compactions that an FLSM-tree's policy asks for, on one column family, of compaction style None,
// of a RocksDB database.
//
// - Threads: FlsmWorkers call RunNext. Tasks that use different runs are done at the same time.
// - Locks: no lock is held during I/O or while on_change is called. RocksDB's mutex and the workers' lock may
//   be taken with the compactor's lock held, never the other way round.
// - Failure: a task that fails is retried after 200 ms, without end; LastFailure returns its error.
//
// Does not own database, family, recorder and workers, which must outlive it. Thread-safe. Throws no
// exception.
class FlsmCompactor {
 public:
  // Called with the new shape after each change that must survive closing, and before a task fills a level
  // deeper than any in use. Called by any thread, without locks. Calls may arrive out of order: of two calls,
  // the one with the larger `number` is the later change.
  using OnChange = std::function<rocksdb::Status(const FlsmShape& shape, uint64_t number)>;
  // `shape` holds size ratio, slots, policies and seals; the runs' sizes are read from `db`.
  // `reshape_bytes_per_s` and `max_merge_bytes` are FlsmOptions' fields. REQUIRES: `commits` is among the
  // database's listeners; Stop is called before the family's handle or the database goes.
  FlsmCompactor(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, std::shared_ptr<FlsmCommits> commits,
                FlsmRecorder* recorder, FlsmWorkers* workers, FlsmShape shape, uint64_t reshape_bytes_per_s,
                uint64_t max_merge_bytes, OnChange on_change);
  FlsmCompactor(const FlsmCompactor&) = delete;
  FlsmCompactor& operator=(const FlsmCompactor&) = delete;

  // Runs the next compaction, and returns true when it has ended. Returns false if none is due; then one may
  // be due from `*wake` on, which is lowered to that time. With `small_only`, only tasks of level 0 and
  // pushes of level 1 count.
  bool RunNext(bool small_only, std::chrono::steady_clock::time_point* wake);
  // Returns the family's claim on a thread.
  FlsmTurn CurrentTurn() const { return {running_, begun_ns_}; }
  // Ends compacting: no task begins after the call, and those that wait for compactions return. Waits for
  // running ones with WaitUntilIdle.
  void End();
  // Waits until no compaction runs.
  void WaitUntilIdle();

  // Changes a level's policy, in memory at once. Returns InvalidArgument for a level or a policy out of
  // range, and for kLazy with FlsmGranularity::kFiles; nothing has changed then. Otherwise returns
  // on_change's status: the change holds, but may not survive closing.
  rocksdb::Status SetPolicy(int level, int policy, FlsmTransition transition);
  // Returns the present shape.
  FlsmShape Shape() const;
  // Waits until no compaction is due or running. Does not flush, and does not return OK while compactions
  // that are due are paused. Returns
  // - the error of a compaction that fails after the call;
  // - ShutdownInProgress if the compactor is ended meanwhile;
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

  // Returns the task to do next. Returns nullopt if there is none, at most until `wake`. REQUIRES: mutex_ is
  // held.
  std::optional<FlsmTask> NextTask(bool small_only, Clock::time_point* wake);
  // Wakes those who wait for a change, and the workers.
  void NotifyAll();
  // Brings the shape up to date with flushed tables and tables that others deleted. REQUIRES: mutex_ is held.
  void RefreshTables();
  // Reads all tables from RocksDB, and from them the runs and level 0 unless tasks use them. REQUIRES: mutex_
  // is held.
  void ReloadRuns();

  // The functions below are in flsm_compactor_tasks.cc.
  //
  // A task that runs, and what it has done so far.
  struct RunningTask;
  // Does a task from beginning to end. Releases `lock` during I/O. REQUIRES: `lock` holds mutex_, before and
  // after.
  void RunTask(const FlsmTask& due, std::unique_lock<std::mutex>* lock);
  // Begins a task: marks its runs and tables as used. REQUIRES: mutex_ is held.
  RunningTask BeginTask(const FlsmTask& due);
  // Compacts the runs of a task, whole, by files or in pieces. REQUIRES: mutex_ is not held.
  void Do(RunningTask* running);
  // Compacts the tables `used` into the task's output, and returns RocksDB's status. `made` receives the new
  // tables; it stays empty if RocksDB moved the tables.
  rocksdb::Status Compact(const FlsmTask& task, const std::vector<FlsmTable>& used,
                          std::vector<FlsmTable>* made);
  // Compacts the runs of a task in pieces of at most `max_bytes` (IsInPieces), and returns RocksDB's status.
  // `*pieces` counts those that succeeded.
  rocksdb::Status CompactInPieces(const FlsmTask& task, uint64_t max_bytes, int* pieces);
  // Ends a task, completed or failed, and says when the next one may begin. REQUIRES: mutex_ is held.
  void EndTask(const RunningTask& running);
  // Applies a successful task to tables and shape. REQUIRES: mutex_ is held.
  void CompleteTask(const FlsmTask& task, const std::vector<FlsmTable>& used,
                    const std::vector<FlsmTable>& made);

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const family_;
  const std::shared_ptr<FlsmCommits> commits_;
  FlsmRecorder* const recorder_;
  FlsmWorkers* const workers_;
  const uint64_t reshape_bytes_per_s_;
  const uint64_t max_merge_bytes_;
  const OnChange on_change_;

  mutable std::mutex mutex_;  // guards the members below; never held during I/O
  std::condition_variable changed_;
  FlsmShape shape_;
  FlsmTables tables_;
  rocksdb::Status failure_;                    // error of the latest compaction that failed
  uint64_t failures_ = 0;                      // compactions that failed
  uint64_t ingestions_ = 0;                    // calls of OnIngested
  uint64_t changes_ = 0;                       // number of the latest change of the shape
  Clock::time_point reshape_at_;               // earliest time for the next IdleTask
  std::array<Clock::time_point, 2> retry_at_;  // earliest time for a task, small or not, after a failure
  std::atomic<uint64_t> begun_ns_{0};          // see FlsmTurn
  std::atomic<int> running_{0};                // tasks; changed with the lock held
  bool failing_ = false;                       // true if no compaction has succeeded since `failure_`
  bool must_reload_ = true;                    // true if tables_ must be read from RocksDB
  bool tables_changed_ = true;                 // true if shape_ may lag behind tables_
  bool ended_ = false;
};

}  // namespace rocktune
