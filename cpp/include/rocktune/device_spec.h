#pragma once

#include <cstdint>
#include <string>

namespace rocktune {

// What a store's I/O may use of a device. 0 means unlimited, or no added latency.
struct DeviceSpec {
  std::string name = "none";
  uint64_t bandwidth_bytes_s = 0;  // reads and writes together
  uint64_t iops = 0;               // device operations per second, reads and writes together
  uint64_t read_latency_us = 0;    // added to each read
  uint64_t write_latency_us = 0;   // added to each device write (see ThrottledFileSystem)
  uint64_t sync_latency_us = 0;    // added to each sync
  uint64_t capacity_bytes = 0;     // writes beyond it fail with NoSpace

  // True if any of the above slows I/O down; a capacity alone does not.
  bool throttled() const {
    return bandwidth_bytes_s != 0 || iops != 0 || read_latency_us != 0 || write_latency_us != 0 ||
           sync_latency_us != 0;
  }
};

}  // namespace rocktune
