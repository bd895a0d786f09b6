#include "rocktune/governor/governed_device.h"

#include <rocksdb/env.h>

#include <fstream>
#include <string>
#include <utility>

#include "rocktune/device/bandwidth_probe.h"

namespace rocktune {

uint64_t MaxFlushBytesPerSecond(uint64_t device_bytes_per_s) { return (device_bytes_per_s + 1) / 2; }

uint64_t ProcessReadBytes() {
  std::ifstream file("/proc/self/io");
  std::string name;
  for (uint64_t value = 0; file >> name >> value;) {
    if (name == "read_bytes:") {
      return value;
    }
  }
  return 0;
}

GovernedDevice::GovernedDevice(const GovernorOptions& options, std::shared_ptr<GovernedRateLimiter> limiter)
    : finds_bandwidth_(options.device_bytes_per_s == 0),
      finds_max_flush_(options.max_flush_bytes_per_s == 0),
      device_read_bytes_(options.device_read_bytes),
      limiter_(std::move(limiter)) {}

rocksdb::Status GovernedDevice::FindBandwidth(rocksdb::DB* db, GovernorLimits* limits) {
  if (limits->device_bytes_per_s != 0) {
    return rocksdb::Status::OK();
  }
  const rocksdb::DBOptions options = db->GetDBOptions();
  const std::string directory = options.db_paths.empty() ? db->GetName() : options.db_paths.front().path;
  uint64_t bytes_per_s = 0;
  rocksdb::Status status = ProbeBandwidth(db->GetFileSystem(), directory, &bytes_per_s);
  if (status.ok()) {
    SetBandwidth(bytes_per_s, limits);
    rocksdb::Info(options.info_log, "rocktune governor: found a device bandwidth of %llu bytes/s in %s",
                  static_cast<unsigned long long>(bytes_per_s), directory.c_str());
    rocksdb::LogFlush(options.info_log);
  }
  return status;
}

void GovernedDevice::RaiseBandwidth(rocksdb::DB* db, const GovernorSample& sample, GovernorLimits* limits) {
  const uint64_t raised = RaisedBandwidth(limits->device_bytes_per_s, sample);
  if (finds_bandwidth_ && raised > limits->device_bytes_per_s) {
    SetBandwidth(raised, limits);
    const std::shared_ptr<rocksdb::Logger> log = db->GetDBOptions().info_log;
    rocksdb::Info(log, "rocktune governor: synced writes show a device bandwidth of %llu bytes/s",
                  static_cast<unsigned long long>(raised));
    rocksdb::LogFlush(log);
  }
}

void GovernedDevice::UpdateReadShare(uint64_t rocksdb_bytes, uint64_t before, uint64_t now) {
  const uint64_t device_bytes = now > before ? now - before : 0;
  limiter_->SetDeviceReadShare(
      now == 0 ? 1 : DeviceReadShare(rocksdb_bytes, device_bytes, limiter_->DeviceReadShare()));
}

void GovernedDevice::SetBandwidth(uint64_t bytes_per_s, GovernorLimits* limits) {
  limits->device_bytes_per_s = bytes_per_s;
  if (finds_max_flush_) {
    limits->max_flush_bytes_per_s = MaxFlushBytesPerSecond(bytes_per_s);
    limiter_->SetBucketBytesPerSecond(limits->max_flush_bytes_per_s);
  }
  limiter_->SetBytesPerSecond(static_cast<int64_t>(bytes_per_s));
}

}  // namespace rocktune
