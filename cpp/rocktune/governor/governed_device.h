#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "rocktune/compaction_governor.h"
#include "rocktune/governor/governed_rate_limiter.h"
#include "rocktune/governor/governor_policy.h"

namespace rocktune {

// Returns the maximum rate of flushes on a device: half of it, since each flushed byte was written to the WAL
// before; 0 for a bandwidth of 0.
uint64_t MaxFlushBytesPerSecond(uint64_t device_bytes_per_s);

// Returns the bytes that this process has read from devices since its start, by /proc/self/io; 0 if that is
// unknown. Hits in the operating system's page cache are not among them. Thread-safe; reads a file.
uint64_t ProcessReadBytes();

// What a governor finds out about its device: the bandwidth, unless it is given, and the share of RocksDB's
// reads that reach the device. Tells the limiter both. Not thread-safe. Throws no exception.
class GovernedDevice {
 public:
  // REQUIRES: options.device_read_bytes is not null.
  GovernedDevice(const GovernorOptions& options, std::shared_ptr<GovernedRateLimiter> limiter);

  // Finds the bandwidth of a database's device, if it is neither given nor found yet, and sets it in `limits`
  // and in the limiter. Takes up to about a second, and writes to the database's LOG what it found. Returns
  // the error of ProbeBandwidth.
  rocksdb::Status FindBandwidth(rocksdb::DB* db, GovernorLimits* limits);
  // Raises a bandwidth that was found to RaisedBandwidth of an interval, and writes that to the LOG of `db`.
  void RaiseBandwidth(rocksdb::DB* db, const GovernorSample& sample, GovernorLimits* limits);

  // Returns GovernorOptions::device_read_bytes.
  uint64_t ReadBytes() const { return device_read_bytes_(); }
  // Sets the share of reads that reach the device from `rocksdb_bytes` that RocksDB read between two results
  // of ReadBytes. The share is 1 while ReadBytes returns 0.
  void UpdateReadShare(uint64_t rocksdb_bytes, uint64_t before, uint64_t now);

 private:
  // Sets the bandwidth in `limits` and in the limiter.
  void SetBandwidth(uint64_t bytes_per_s, GovernorLimits* limits);

  const bool finds_bandwidth_;
  const bool finds_max_flush_;
  const std::function<uint64_t()> device_read_bytes_;
  const std::shared_ptr<GovernedRateLimiter> limiter_;
};

}  // namespace rocktune
