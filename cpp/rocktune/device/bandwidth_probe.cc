#include "rocktune/device/bandwidth_probe.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "rocktune/device/measured_file.h"
#include "rocktune/device/timed_work.h"

namespace rocktune {
namespace {

constexpr std::size_t kBlockBytes = 1 << 20;  // RocksDB's writable_file_max_buffer_size

// Appends blocks to a new file and stores the rate. `synced` for files whose appends must be synced to reach
// the device.
rocksdb::IOStatus Probe(rocksdb::FileSystem* file_system, const std::string& path,
                        const rocksdb::FileOptions& options, bool synced, uint64_t* bytes_per_s) {
  AppendedFile file;
  rocksdb::IOStatus status = file.Open(file_system, path, options);
  if (!status.ok()) {
    return status;
  }
  Buffer block(kBlockBytes);
  block.Randomize();
  const auto append = [&] {
    rocksdb::IOStatus appended = file.Append(block.slice());
    return appended.ok() && synced ? file.Sync() : appended;
  };
  double rate = 0;
  status = MeasureRate(
      {{append, kBlockBytes, kMaxProbeBytes / kBlockBytes}}, kMaxProbeSeconds, [](double) {}, &rate);
  *bytes_per_s = std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(rate)));
  file.Close().PermitUncheckedError();  // the file is deleted
  return status;
}

}  // namespace

rocksdb::IOStatus ProbeBandwidth(rocksdb::FileSystem* file_system, const std::string& directory,
                                 uint64_t* bytes_per_s) {
  const std::string path = directory + "/" + kProbeFile;
  rocksdb::IOStatus status = Probe(file_system, path, DirectOptions(), false, bytes_per_s);
  if (!status.ok() && !status.IsNoSpace()) {
    // Some file systems refuse to open the file for direct I/O, others refuse to write it.
    status = Probe(file_system, path, rocksdb::FileOptions(), true, bytes_per_s);
  }
  // RocksDB may have deleted it already.
  file_system->DeleteFile(path, rocksdb::IOOptions(), nullptr).PermitUncheckedError();
  return status;
}

}  // namespace rocktune
