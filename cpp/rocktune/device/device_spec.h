#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace rocktune {

// What a store's I/O may use. 0 stands for "without limit" or "no added latency".
struct DeviceSpec {
  std::string name = "none";
  uint64_t bandwidth_bytes_s = 0;  // reads and writes together
  uint64_t iops = 0;               // device operations per second, reads and writes together
  uint64_t read_latency_us = 0;    // added to each read
  uint64_t write_latency_us = 0;   // added to each device write (see ThrottledFileSystem)
  uint64_t sync_latency_us = 0;    // added to each sync
  uint64_t capacity_bytes = 0;     // beyond it writes fail with NoSpace

  bool throttled() const {
    return bandwidth_bytes_s != 0 || iops != 0 || read_latency_us != 0 || write_latency_us != 0 ||
           sync_latency_us != 0;
  }
};

// Throws nlohmann::json::exception or std::invalid_argument (one line) for a malformed spec; unknown
// fields are malformed too.
DeviceSpec DeviceSpecFromJson(const nlohmann::json& json);

}  // namespace rocktune
