#pragma once

#include "rocktune/device/device_measurement.h"
#include "rocktune/util/progress.h"

namespace rocktune {

// Measures the device under a directory of the operating system, as MeasureDevice does. Throws RunError:
// invalid if the directory's files are in memory, if its file system refuses direct I/O, or if the request is
// below its minimum; out_of_disk if the file system is full; crashed for any other failure.
DeviceMeasurement MeasureDeviceOfDirectory(const DeviceMeasurementRequest& request, const Progress& progress);

}  // namespace rocktune
