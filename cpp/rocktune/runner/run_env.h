#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <memory>

#include "rocktune/util/run_clock.h"

namespace rocktune {

// Returns an Env with the given file system and with the run's clock instead of the wall clock. RocksDB's
// sleeps (delayed writes) and times (the refill of delayed writes, histograms) then stop with the run. With
// the wall clock, a parked run would gain credit for delayed writes.
//
// Ownership: `clock` must outlive the Env, which must outlive every store opened on it. Thread-safe. Once the
// clock is closed, sleeps take wall time.
std::unique_ptr<rocksdb::Env> NewRunEnv(const std::shared_ptr<rocksdb::FileSystem>& file_system,
                                        RunClock* clock);

// Returns the clock of such an Env, for objects that work in the same time, such as a CompactionGovernor.
// `clock` must outlive it.
std::shared_ptr<rocksdb::SystemClock> NewRunSystemClock(RunClock* clock);

}  // namespace rocktune
