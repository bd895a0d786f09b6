#pragma once

#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <memory>

namespace rocktune {

// An Env with files in memory and without threads of its own: `max_background_jobs` of options that mean harm
// may be 2^31. Everything else is the default Env's. Thread-safe.
class MemoryEnv : public rocksdb::EnvWrapper {
 public:
  MemoryEnv() : MemoryEnv(rocksdb::NewMemEnv(rocksdb::Env::Default())) {}

  const char* Name() const override { return "rocktune.MemoryEnv"; }
  void SetBackgroundThreads(int /*number*/, Priority /*pool*/) override {}
  void IncBackgroundThreadsIfNeeded(int /*number*/, Priority /*pool*/) override {}

 private:
  explicit MemoryEnv(rocksdb::Env* files) : rocksdb::EnvWrapper(files), files_(files) {}

  const std::unique_ptr<rocksdb::Env> files_;
};

// Changes the options so that a new database with them lies in `env` alone: other paths, listeners and
// statistics are dropped. `env` must outlive the database.
inline void MoveInto(MemoryEnv* env, rocksdb::DBOptions* options) {
  options->env = env;
  options->create_if_missing = true;
  options->error_if_exists = false;
  options->wal_dir.clear();
  options->db_log_dir.clear();
  options->db_paths.clear();
  options->listeners.clear();
  options->statistics.reset();
}

}  // namespace rocktune
