#include "worker/device_command.h"

#include <linux/magic.h>
#include <rocksdb/file_system.h>
#include <sys/vfs.h>

#include <memory>

#include "rocktune/runner/run_error.h"

namespace rocktune {
namespace {

// Recent kernels accept direct I/O there, so the figures would be of memory and nobody would notice.
bool LiesInMemory(const std::string& directory) {
  struct statfs file_system {};
  return statfs(directory.c_str(), &file_system) == 0 &&
         (file_system.f_type == TMPFS_MAGIC || file_system.f_type == RAMFS_MAGIC);
}

}  // namespace

DeviceMeasurement MeasureDeviceOfDirectory(const DeviceMeasurementRequest& request,
                                           const Progress& progress) {
  if (LiesInMemory(request.directory)) {
    throw RunError(RunFailure::kInvalid, "files in this directory are in memory (tmpfs), not on a disk");
  }
  DeviceMeasurement measurement;
  const rocksdb::IOStatus status =
      MeasureDevice(rocksdb::FileSystem::Default().get(), request, progress, &measurement);
  if (status.IsInvalidArgument() || status.IsNotSupported()) {
    throw RunError(RunFailure::kInvalid, status.getState());
  }
  if (!status.ok()) {
    throw StoreError("measuring failed", status);
  }
  return measurement;
}

}  // namespace rocktune
