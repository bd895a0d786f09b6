#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <memory>

#include "rocktune/util/run_clock.h"

namespace rocktune {

// RocksDB's environment with another file system and with the run's clock instead of the wall clock:
// RocksDB's own sleeps (delayed writes) and times (the refill of delayed writes, its histograms) stand still
// with the run. With the wall clock a parked run would gather credit for delayed writes while it waits.
//
// Thread-safe. `clock` must outlive the environment, and that every store opened on it. A closed clock
// hinders nothing: sleeps are then real.
std::unique_ptr<rocksdb::Env> NewRunEnv(const std::shared_ptr<rocksdb::FileSystem>& file_system,
                                        RunClock* clock);

// The clock of such an environment, for what works beside RocksDB.
std::shared_ptr<rocksdb::SystemClock> NewRunSystemClock(RunClock* clock);

}  // namespace rocktune
