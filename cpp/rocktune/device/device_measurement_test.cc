#include "rocktune/device/device_measurement.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "rocktune/throttled_file_system.h"

namespace rocktune {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

void IgnoreProgress(const char* /*phase*/, double /*done*/, double /*total*/) {}

// A file system without direct I/O, such as some in user space.
class BufferedFileSystem : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "BufferedFileSystem"; }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* dbg) override {
    return options.use_direct_writes ? IOStatus::IOError("open", "Invalid argument")
                                     : target()->NewWritableFile(path, options, result, dbg);
  }
};

class DeviceMeasurementTest : public testing::Test {
 protected:
  DeviceMeasurementTest() {
    EXPECT_TRUE(memory_->CreateDir("/m", IOOptions(), nullptr).ok());
    request_.directory = "/m";
    request_.bytes = DeviceMeasurementRequest::kMinBytes;
    request_.seconds = 1;
  }

  IOStatus Measure(rocksdb::FileSystem* file_system, const Progress& progress = IgnoreProgress) {
    return MeasureDevice(file_system, request_, progress, &measured_);
  }
  IOStatus MeasureOn(const DeviceSpec& spec) {
    return Measure(ThrottledFileSystem::Create(memory_, spec).get());
  }
  std::vector<std::string> Files() {
    std::vector<std::string> names;
    EXPECT_TRUE(memory_->GetChildren("/m", IOOptions(), &names, nullptr).ok());
    return names;
  }

  std::unique_ptr<rocksdb::Env> env_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  std::shared_ptr<rocksdb::FileSystem> memory_ = env_->GetFileSystem();
  DeviceMeasurementRequest request_;
  DeviceMeasurement measured_;
};

TEST_F(DeviceMeasurementTest, MeasuresAFileSystemInMemoryAndLeavesNothing) {
  ASSERT_TRUE(Measure(memory_.get()).ok());
  EXPECT_GT(measured_.spec.bandwidth_bytes_s, 0u);
  EXPECT_GT(measured_.spec.iops, 0u);
  EXPECT_GT(measured_.written_bytes, 0u);
  EXPECT_LE(measured_.written_bytes, request_.bytes);
  EXPECT_EQ(Files(), std::vector<std::string>());
}

TEST_F(DeviceMeasurementTest, ReportsItsPhasesInOrder) {
  std::vector<std::string> phases;
  double before_s = 0;
  const Progress progress = [&](const char* phase, double done_s, double total_s) {
    EXPECT_GE(done_s, before_s);
    EXPECT_LE(done_s, total_s);
    EXPECT_EQ(total_s, request_.seconds);
    before_s = done_s;
    if (phases.empty() || phases.back() != phase) {
      phases.emplace_back(phase);
    }
  };
  ASSERT_TRUE(Measure(memory_.get(), progress).ok());
  // Rates that are measured in less than a moment report nothing.
  EXPECT_EQ(phases.back(), "sync_latency_us");
}

// Time can only be lost, so the bounds hold on any machine, however busy.
TEST_F(DeviceMeasurementTest, IsNeverFasterThanTheDevice) {
  DeviceSpec device;
  device.bandwidth_bytes_s = 100 << 20;
  device.iops = 2000;
  device.read_latency_us = 3000;
  device.write_latency_us = 2000;
  device.sync_latency_us = 4000;
  ASSERT_TRUE(MeasureOn(device).ok());
  // Idle time before a phase earns the device 10 ms of credit.
  EXPECT_LE(static_cast<double>(measured_.spec.bandwidth_bytes_s), 1.1 * (100 << 20));
  EXPECT_LE(static_cast<double>(measured_.spec.iops), 1.1 * 2000);
  EXPECT_GE(measured_.spec.read_latency_us, 3000u);
  EXPECT_GE(measured_.spec.write_latency_us, 2000u);
  EXPECT_GE(measured_.spec.write_latency_us + measured_.spec.sync_latency_us, 6000u);
}

// A busy machine can delay a measurement, but hardly all of them.
TEST_F(DeviceMeasurementTest, GivesTheFiguresOfAnEmulatedDeviceBack) {
  DeviceSpec device;
  device.bandwidth_bytes_s = 60 << 20;
  device.iops = 800;
  device.read_latency_us = 10000;
  device.write_latency_us = 8000;
  device.sync_latency_us = 15000;
  request_.seconds = 3;
  const auto close = [](uint64_t measured, uint64_t given) {
    return std::abs(static_cast<double>(measured) / static_cast<double>(given) - 1) < 0.15;
  };
  bool found = false;
  for (int attempt = 0; attempt < 10 && !found; ++attempt) {
    ASSERT_TRUE(MeasureOn(device).ok());
    const DeviceSpec& spec = measured_.spec;
    found = close(spec.bandwidth_bytes_s, device.bandwidth_bytes_s) && close(spec.iops, device.iops) &&
            close(spec.read_latency_us, device.read_latency_us) &&
            close(spec.write_latency_us, device.write_latency_us) &&
            close(spec.sync_latency_us, device.sync_latency_us);
  }
  EXPECT_TRUE(found) << measured_.spec.bandwidth_bytes_s << " bytes/s, " << measured_.spec.iops << " IOPS, "
                     << measured_.spec.read_latency_us << ", " << measured_.spec.write_latency_us << ", "
                     << measured_.spec.sync_latency_us << " us";
}

TEST_F(DeviceMeasurementTest, AFullDeviceIsAFailureThatLeavesNothing) {
  DeviceSpec device;
  device.capacity_bytes = 8 << 20;
  const IOStatus status = MeasureOn(device);
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  EXPECT_LE(measured_.written_bytes, 8u << 20);
  EXPECT_EQ(Files(), std::vector<std::string>());
}

TEST_F(DeviceMeasurementTest, SaysThatDirectIoIsRefused) {
  BufferedFileSystem buffered(memory_);
  const IOStatus status = Measure(&buffered);
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_EQ(Files(), std::vector<std::string>());
  // Without the directory no file can be written at all.
  request_.directory = "/nowhere/m";
  EXPECT_FALSE(Measure(rocksdb::FileSystem::Default().get()).IsNotSupported());
}

TEST_F(DeviceMeasurementTest, RefusesWhatIsTooLittle) {
  request_.bytes -= 1;
  EXPECT_TRUE(Measure(memory_.get()).IsInvalidArgument());
  request_.bytes += 1;
  for (const double seconds : {0.0, -1.0, std::nan("")}) {
    request_.seconds = seconds;
    EXPECT_TRUE(Measure(memory_.get()).IsInvalidArgument());
  }
}

}  // namespace
}  // namespace rocktune
