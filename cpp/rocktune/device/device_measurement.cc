#include "rocktune/device/device_measurement.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "rocktune/device/measured_file.h"
#include "rocktune/device/timed_work.h"

namespace rocktune {
namespace {

using rocksdb::FileOptions;
using rocksdb::FileSystem;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

constexpr std::size_t kBlockBytes = 1 << 20;  // a large request: RocksDB's writable_file_max_buffer_size
constexpr uint64_t kStreams = 4;              // threads that append, and as many that read
constexpr uint64_t kRandomReaders = 32;
constexpr uint64_t kMaxSamples = 10000;  // the median of more is no better

// Shares of the request's seconds. Their sum is 1.
constexpr double kFillSeconds = 0.25;
constexpr double kBandwidthSeconds = 0.25;
constexpr double kIopsSeconds = 0.2;
constexpr double kLatencySeconds = 0.1;
// Shares of the request's bytes. Their sum with twice kLatencyBytes is 1.
constexpr double kFillBytes = 0.5;
constexpr double kBandwidthBytes = 0.375;
constexpr double kLatencyBytes = 0.0625;

// One call of MeasureDevice.
class Meter {
 public:
  Meter(FileSystem* file_system, const DeviceMeasurementRequest& request, const Progress& progress)
      : file_system_(file_system), request_(request), progress_(progress) {
    block_.Randomize();
  }
  ~Meter() {
    reader_.reset();
    for (const std::string& path : paths_) {
      file_system_->DeleteFile(path, IOOptions(), nullptr).PermitUncheckedError();
    }
  }
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  IOStatus Measure(DeviceMeasurement* measurement) {
    DeviceSpec* spec = &measurement->spec;
    IOStatus status = RequireDirectIo();
    for (const auto& step : {&Meter::Fill, &Meter::MeasureBandwidth, &Meter::MeasureIops,
                             &Meter::MeasureReads, &Meter::MeasureWrites, &Meter::MeasureSyncs}) {
      if (status.ok()) {
        status = (this->*step)(spec);
      }
    }
    measurement->written_bytes = written_bytes_;
    return status;
  }

 private:
  IOStatus RequireDirectIo();
  IOStatus Fill(DeviceSpec* spec);
  IOStatus MeasureBandwidth(DeviceSpec* spec);
  IOStatus MeasureIops(DeviceSpec* spec);
  IOStatus MeasureReads(DeviceSpec* spec);
  IOStatus MeasureWrites(DeviceSpec* spec);
  IOStatus MeasureSyncs(DeviceSpec* spec);

  // Returns the path of a file, which the destructor deletes. The throttled file system recognizes data by
  // the suffix.
  std::string NewPath(const std::string& name) {
    paths_.push_back(request_.directory + "/" + name);
    return paths_.back();
  }
  IOStatus OpenDirect(AppendedFile* file, const std::string& name) {
    return file->Open(file_system_, NewPath(name), DirectOptions());
  }
  // Returns the steps of a share of the bytes, each of `step_bytes`.
  uint64_t StepsOf(double share, std::size_t step_bytes) const {
    return static_cast<uint64_t>(static_cast<double>(request_.bytes) * share) / step_bytes;
  }
  // Begins a phase and returns the function that reports its progress. The phases before count as done.
  Elapsed Begin(const char* phase, double share_of_seconds) {
    const double before_s = begun_s_;
    begun_s_ += share_of_seconds * request_.seconds;
    return [this, phase, before_s](double elapsed_s) {
      progress_(phase, std::min(before_s + elapsed_s, begun_s_), request_.seconds);
    };
  }
  IOStatus AppendCounted(AppendedFile* file, const Slice& data) {
    IOStatus status = file->Append(data);
    if (status.ok()) {
      written_bytes_ += data.size();
    }
    return status;
  }
  TimedWork Appender(AppendedFile* file) {
    return {[this, file] { return AppendCounted(file, block_.slice()); }, kBlockBytes,
            StepsOf(kBandwidthBytes, kBlockBytes) / kStreams};
  }
  // Returns reads of the filled file from its part `number` of kStreams on, in order, without end.
  TimedWork StreamReader(uint64_t number) const;
  // Returns reads of pages at random offsets of the filled file.
  TimedWork PageReader(uint64_t seed) const;

  FileSystem* const file_system_;
  const DeviceMeasurementRequest& request_;
  const Progress& progress_;
  Buffer block_{kBlockBytes};
  const Slice page_{block_.slice().data(), kPageBytes};
  double begun_s_ = 0;  // the end of the present phase
  std::vector<std::string> paths_;
  std::unique_ptr<rocksdb::FSRandomAccessFile> reader_;  // of the filled file
  uint64_t filled_bytes_ = 0;
  std::atomic<uint64_t> written_bytes_{0};
};

IOStatus Meter::RequireDirectIo() {
  const auto write_page = [this](const std::string& name, const FileOptions& options) {
    AppendedFile file;
    IOStatus status = file.Open(file_system_, NewPath(name), options);
    return status.ok() ? AppendCounted(&file, page_) : status;
  };
  IOStatus direct = write_page("direct.sst", DirectOptions());
  // Some file systems refuse to open the file, others refuse to write it. It is for direct I/O if the same
  // works without.
  if (!direct.ok() && !direct.IsNoSpace() && write_page("buffered.sst", FileOptions()).ok()) {
    return IOStatus::NotSupported("the file system refuses direct I/O", direct.ToString());
  }
  return direct;
}

IOStatus Meter::Fill(DeviceSpec* /*spec*/) {
  AppendedFile file;
  IOStatus status = OpenDirect(&file, "filled.sst");
  if (!status.ok()) {
    return status;
  }
  const std::string path = paths_.back();
  double bytes_per_s = 0;
  const TimedWork append{[&] { return AppendCounted(&file, block_.slice()); }, kBlockBytes,
                         StepsOf(kFillBytes, kBlockBytes) - 1};  // the probe for direct I/O wrote a page
  status = MeasureRate({append}, kFillSeconds * request_.seconds, Begin("fill", kFillSeconds), &bytes_per_s);
  filled_bytes_ = file.bytes();
  for (const auto& end : {&AppendedFile::Sync, &AppendedFile::Close}) {
    if (status.ok()) {
      status = (file.*end)();
    }
  }
  return status.ok() ? file_system_->NewRandomAccessFile(path, DirectOptions(), &reader_, nullptr) : status;
}

TimedWork Meter::StreamReader(uint64_t number) const {
  const uint64_t blocks = filled_bytes_ / kBlockBytes;
  return {[this, blocks, next = number * blocks / kStreams,
           buffer = std::make_shared<Buffer>(kBlockBytes)]() mutable {
            Slice result;
            return reader_->Read(next++ % blocks * kBlockBytes, kBlockBytes, IOOptions(), &result,
                                 buffer->data(), nullptr);
          },
          kBlockBytes};
}

TimedWork Meter::PageReader(uint64_t seed) const {
  const uint64_t pages = filled_bytes_ / kPageBytes;
  return {
      [this, random = std::mt19937_64(seed), pages, buffer = std::make_shared<Buffer>(kPageBytes)]() mutable {
        Slice result;
        return reader_->Read(random() % pages * kPageBytes, kPageBytes, IOOptions(), &result, buffer->data(),
                             nullptr);
      }};
}

IOStatus Meter::MeasureBandwidth(DeviceSpec* spec) {
  std::vector<AppendedFile> files(kStreams);
  std::vector<TimedWork> works;
  for (uint64_t i = 0; i < kStreams; ++i) {
    IOStatus status = OpenDirect(&files[i], "appended" + std::to_string(i) + ".sst");
    if (!status.ok()) {
      return status;
    }
    works.push_back(Appender(&files[i]));
    works.push_back(StreamReader(i));
  }
  double bytes_per_s = 0;
  IOStatus status = MeasureRate(works, kBandwidthSeconds * request_.seconds,
                                Begin("bandwidth_bytes_s", kBandwidthSeconds), &bytes_per_s);
  spec->bandwidth_bytes_s = std::max<uint64_t>(1, std::llround(bytes_per_s));
  return status;
}

IOStatus Meter::MeasureIops(DeviceSpec* spec) {
  std::vector<TimedWork> works;
  for (uint64_t i = 0; i < kRandomReaders; ++i) {
    works.push_back(PageReader(i));
  }
  double reads_per_s = 0;
  IOStatus status =
      MeasureRate(works, kIopsSeconds * request_.seconds, Begin("iops", kIopsSeconds), &reads_per_s);
  spec->iops = std::max<uint64_t>(1, std::llround(reads_per_s));
  return status;
}

IOStatus Meter::MeasureReads(DeviceSpec* spec) {
  TimedWork work = PageReader(kRandomReaders);
  work.max_steps = kMaxSamples;
  double median_us = 0;
  IOStatus status = MeasureMedian(work, kLatencySeconds * request_.seconds,
                                  Begin("read_latency_us", kLatencySeconds), &median_us);
  spec->read_latency_us = std::llround(median_us);
  return status;
}

IOStatus Meter::MeasureWrites(DeviceSpec* spec) {
  AppendedFile file;
  IOStatus status = OpenDirect(&file, "written.sst");
  if (!status.ok()) {
    return status;
  }
  const auto write = [&] {
    IOStatus appended = AppendCounted(&file, page_);
    return appended.ok() ? file.Flush(kPageBytes) : appended;
  };
  double median_us = 0;
  status = MeasureMedian({write, 1, std::min(kMaxSamples, StepsOf(kLatencyBytes, kPageBytes))},
                         kLatencySeconds * request_.seconds, Begin("write_latency_us", kLatencySeconds),
                         &median_us);
  spec->write_latency_us = std::llround(median_us);
  return status;
}

IOStatus Meter::MeasureSyncs(DeviceSpec* spec) {
  AppendedFile file;
  IOStatus status = file.Open(file_system_, NewPath("synced.log"), FileOptions());
  if (!status.ok()) {
    return status;
  }
  const auto write = [&] {
    IOStatus appended = AppendCounted(&file, page_);
    return appended.ok() ? file.Sync() : appended;
  };
  double median_us = 0;
  status = MeasureMedian({write, 1, std::min(kMaxSamples, StepsOf(kLatencyBytes, kPageBytes))},
                         kLatencySeconds * request_.seconds, Begin("sync_latency_us", kLatencySeconds),
                         &median_us);
  const uint64_t both_us = std::llround(median_us);
  spec->sync_latency_us = both_us - std::min(both_us, spec->write_latency_us);
  return status;
}

}  // namespace

IOStatus MeasureDevice(FileSystem* file_system, const DeviceMeasurementRequest& request,
                       const Progress& progress, DeviceMeasurement* measurement) {
  if (request.bytes < DeviceMeasurementRequest::kMinBytes || !(request.seconds > 0)) {
    return IOStatus::InvalidArgument("a device measurement needs at least 64 MiB and more than 0 seconds");
  }
  return Meter(file_system, request, progress).Measure(measurement);
}

}  // namespace rocktune
