#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <string>

#include "rocktune/device_spec.h"
#include "rocktune/util/progress.h"

namespace rocktune {

// How a device is measured.
struct DeviceMeasurementRequest {
  static constexpr uint64_t kMinBytes = 64 << 20;

  std::string directory;  // existing; takes the files, which are deleted before MeasureDevice returns
  uint64_t bytes = 0;     // maximum number of bytes written, at least kMinBytes
  double seconds = 0;     // maximum duration, above 0; exceeded by operations that are under way
};

// The result of MeasureDevice.
struct DeviceMeasurement {
  // Figures in the sense of ThrottledFileSystem: a device emulated from them yields them again. The name and
  // the capacity are not set.
  DeviceSpec spec;
  uint64_t written_bytes = 0;
};

// Measures the device under a directory, through direct I/O:
//
//   bandwidth_bytes_s  4 threads append and 4 read files sequentially, 1 MiB at a time: bytes of all together
//   iops               32 threads read 4 KiB at random offsets
//   read_latency_us    median of such reads by one thread
//   write_latency_us   median of appending 4 KiB and RangeSync; ThrottledFileSystem charges one write
//   sync_latency_us    median of a buffered append of 4 KiB and Sync, as RocksDB writes its WAL, less
//                      write_latency_us, which ThrottledFileSystem charges for every sync after an append
//
// The phases of `progress` are "fill" and the names of these figures; `done` and `total` are seconds of the
// whole measurement. A phase ends early once it has written its share of the bytes.
//
// Threads: may be called on any thread; uses threads of its own meanwhile.
// Failure: InvalidArgument for a request below its minimum, NotSupported if the file system refuses direct
// I/O, else the file system's first status that is not OK.
rocksdb::IOStatus MeasureDevice(rocksdb::FileSystem* file_system, const DeviceMeasurementRequest& request,
                                const Progress& progress, DeviceMeasurement* measurement);

}  // namespace rocktune
