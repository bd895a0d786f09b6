#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rocktune {

// What became of a watched file.
enum class OptionsOutcome {
  kApplied,         // every option of the file is in force, read back from the database
  kWaiting,         // as kApplied, but for some options that would stop writes now, or that a governor holds
  kRefused,         // the file is incomplete or wrong; nothing was changed
  kRolledBack,      // RocksDB refused a change or reverted it; the earlier options are in force again
  kRollbackFailed,  // as kRolledBack, but some of the earlier options could not be set again
};

// One option that a file changed.
struct OptionChange {
  std::string where;  // "db", "cf FAMILY" or "table FAMILY"
  std::string name;
  std::string before;
  std::string after;
};

// The result of one file.
struct OptionsReport {
  OptionsOutcome outcome = OptionsOutcome::kApplied;
  uint32_t file_crc32 = 0;            // the checksum in the file's last line; 0 if it is wrong
  std::vector<OptionChange> changes;  // made; empty unless kApplied or kWaiting
  // Options that wait, each "WHERE NAME". The watcher sets them once that does no harm.
  std::vector<std::string> waiting;
  std::string reason;  // of kWaiting, kRefused, kRolledBack or kRollbackFailed, in one line
};

// What a watcher has done since Start.
struct OptionsWatcherCounters {
  uint64_t files_applied = 0;      // files that ended with kApplied or kWaiting
  uint64_t files_refused = 0;      // files that ended with kRefused
  uint64_t files_rolled_back = 0;  // files that ended with kRolledBack or kRollbackFailed
  uint64_t options_changed = 0;    // changes of an option's value, those of a rollback left out
  uint64_t options_waiting = 0;    // options that wait now
  uint32_t file_crc32 = 0;         // of the file whose options are in force; 0 if there is no file yet
};

struct OptionsWatcherOptions {
  // The file to watch; "" means ROCKTUNE_OPTIONS in the database's directory. It is read through the
  // database's Env. It need not exist.
  std::string path;
  // Time between two looks at the file, in microseconds; at least 1,000.
  uint64_t interval_us = 500'000;
  // Called on the watcher's thread after each file, and after options that waited were set. Must not throw,
  // and must not call Stop or destroy the watcher.
  std::function<void(const OptionsReport&)> on_report;
};

// Changes the options of an open database as a file says, while it serves.
//
//     std::unique_ptr<rocktune::OptionsWatcher> watcher;
//     rocktune::OptionsWatcher::Start(db, {}, {}, &watcher);   // after the database is opened
//     ...
//     watcher.reset();                                         // before it is closed
//
// `rocktune apply` writes the file; docs/apply.md describes its format. A file states options by RocksDB's
// names, in the form of an OPTIONS file, and ends with a checksum. It takes effect as a whole:
// - An option that the previous file set and the new one leaves out gets the value back that it had at Start.
//   So an older file restores what it stands for. A file that is deleted changes nothing.
// - A file that is incomplete, has a wrong checksum, names another database, an unknown column family or
//   option, an option that only an opening of the database can change, a value that RocksDB would read as
//   another one, or values that contradict each other, changes nothing.
// - Each column family gets its options in one SetOptions, the database in one SetDBOptions. All are read
//   back. If one is refused or was reverted, the earlier values of all are set again.
// - Memory shrinks before other memory grows. Triggers that slow or stop writes are lowered only once level 0
//   and the pending bytes are below them.
// In addition to what SetOptions and SetDBOptions change, a file may set block_cache (the capacity of the
// present cache, which other column families or databases may share), rate_limiter_bytes_per_sec and
// db_write_buffer_size, each only if the database was opened with such an object. Options of
// BlockBasedTable need RocksDB 9.8: older versions change them while other threads read them.
//
// Works with a CompactionGovernor: while one is attached, disable_auto_compactions and the triggers of
// stalls wait, and a file with rate_limiter_bytes_per_sec is refused. Works on an FlsmStore, which refuses
// some options itself; see docs/design/flsm-support.md.
//
// RocksDB writes what is set into the database's OPTIONS file and its MANIFEST. A program that opens the
// database with the options of its OPTIONS file finds them there; Start then takes them for its own.
// Checkpoints and backups have them in their OPTIONS file and lack the watched file.
//
// Threads: one, which sleeps but for one read of the file in each interval. Thread-safe. Throws no exception.
// Holds no lock while it calls RocksDB or on_report. A change waits, as SetOptions does, while writes are
// stopped.
class OptionsWatcher {
 public:
  // Starts to watch. A file that exists is applied at once, on the watcher's thread.
  // `families`: the column families that a file may change; the default one if empty. The handles and the
  // database must outlive the watcher. One watcher per database.
  // Returns
  // - InvalidArgument if interval_us is too small;
  // - NotSupported for a database that is opened read-only, as a secondary or a follower;
  // - the error of the Env; a corrupt ROCKTUNE_GOVERNOR gives Corruption.
  static rocksdb::Status Start(rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& families,
                               const OptionsWatcherOptions& options,
                               std::unique_ptr<OptionsWatcher>* watcher);

  // Stops as Stop does.
  virtual ~OptionsWatcher() = default;
  OptionsWatcher(const OptionsWatcher&) = delete;
  OptionsWatcher& operator=(const OptionsWatcher&) = delete;

  // Ends the thread, after a change in progress. The options stay as they are. Idempotent.
  virtual void Stop() = 0;
  virtual OptionsWatcherCounters Counters() const = 0;
  // Returns the last report; one with a file_crc32 of 0 and no reason before the first.
  virtual OptionsReport LastReport() const = 0;
  // Returns the counters in Prometheus' text format.
  virtual std::string PrometheusText() const = 0;

 protected:
  OptionsWatcher() = default;
};

}  // namespace rocktune
