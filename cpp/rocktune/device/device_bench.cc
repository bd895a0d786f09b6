// Measures the throttled file system and prints one JSON document.
//
//   device_bench --mode read|write|mixed        throughput of a device of a given speed, in bytes per second
//   device_bench --mode reader-beside-writer    latency of 4 KiB reads while a thread writes 2 MiB requests
//   device_bench --mode wrapper-cost            overhead of the wrapper on a device without limits
//
// Flags and their defaults: --bandwidth-mb-s 100 (1 MB is 2^20 bytes), --iops 0 (unlimited), --seconds 10 (of
// run time), --threads 4, --directory (where the files are created and deleted; the system's temporary
// directory). For wrapper-cost: --pairs 40 (interleaved pairs of blocks), --operations 2000 (per block).

#include <rocksdb/env.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "rocktune/device/device_bench_files.h"
#include "rocktune/device/throttled_file_system.h"
#include "rocktune/util/histogram.h"

namespace rocktune {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Flags {
  std::string mode;
  std::string directory = std::filesystem::temp_directory_path();
  uint64_t bandwidth_mb_s = 100;
  uint64_t iops = 0;
  uint64_t seconds = 10;
  uint64_t threads = 4;
  uint64_t pairs = 40;
  uint64_t operations = 2000;
};

Flags ParseFlags(int argc, char** argv) {
  Flags flags;
  const std::map<std::string, uint64_t*> numbers = {{"--bandwidth-mb-s", &flags.bandwidth_mb_s},
                                                    {"--iops", &flags.iops},
                                                    {"--seconds", &flags.seconds},
                                                    {"--threads", &flags.threads},
                                                    {"--pairs", &flags.pairs},
                                                    {"--operations", &flags.operations}};
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) {
      throw std::invalid_argument(name + ": give a value after it");
    }
    const std::string value = argv[i + 1];
    if (name == "--mode") {
      flags.mode = value;
    } else if (name == "--directory") {
      flags.directory = value;
    } else if (const auto number = numbers.find(name); number != numbers.end()) {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *number->second);
      if (error != std::errc() || end != value.data() + value.size()) {
        throw std::invalid_argument(name + ": '" + value + "' is not a whole number");
      }
    } else {
      throw std::invalid_argument(name + ": unknown flag; the head of device_bench.cc lists them");
    }
  }
  return flags;
}

DeviceSpec SpecFrom(const Flags& flags) {
  DeviceSpec spec;
  spec.name = "bench";
  spec.bandwidth_bytes_s = flags.bandwidth_mb_s * kMebibyte;
  spec.iops = flags.iops;
  return spec;
}

uint64_t AllBytes(const ThrottledFileSystem& device) {
  const DeviceCounters counters = device.Counters();
  return std::accumulate(counters.bytes.begin(), counters.bytes.end(), uint64_t{0});
}

using Step = std::function<void()>;

// Repeats each step in a thread of its own until the clock reaches `seconds`. Returns the bytes that passed
// the device, the run time, the steady time and the two rates.
nlohmann::json RunFor(uint64_t seconds, const std::vector<Step>& steps, const ThrottledFileSystem& device,
                      RunClock* clock) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (const Step& step : steps) {
    threads.emplace_back([&done, &step] {
      while (!done) {
        step();
      }
    });
  }
  const SteadyClock::time_point started = SteadyClock::now();
  clock->Start();
  clock->SleepUntil(static_cast<RunClock::Nanos>(seconds) * 1000000000);
  clock->Stop();
  const std::chrono::duration<double> steady = SteadyClock::now() - started;
  const double run_s = static_cast<double>(clock->Now()) * 1e-9;
  const uint64_t bytes = AllBytes(device);
  done = true;
  clock->Close();  // ends the steps that wait for the stopped clock
  for (std::thread& thread : threads) {
    thread.join();
  }
  return {{"bytes", bytes},
          {"run_s", run_s},
          {"steady_s", steady.count()},
          {"bytes_per_run_s", static_cast<double>(bytes) / run_s},
          {"bytes_per_steady_s", static_cast<double>(bytes) / steady.count()}};
}

nlohmann::json MeasureThroughput(const Flags& flags) {
  const ScratchDirectory directory(flags.directory);
  CreateFileToRead(directory.File("read.sst"));
  RunClock clock;
  ThrottledFileSystemImpl device(rocksdb::FileSystem::Default(), SpecFrom(flags), &clock);
  std::vector<Step> steps;
  for (uint64_t i = 0; i < flags.threads; ++i) {
    if (flags.mode == "read" || (flags.mode == "mixed" && i % 2 == 0)) {
      const auto reader = std::make_shared<Reader>(&device, directory.File("read.sst"), i);
      steps.push_back([reader] { reader->Read(); });
    } else {
      const std::string path = directory.File("write" + std::to_string(i) + ".sst");
      const auto writer = std::make_shared<Writer>(&device, path);
      steps.push_back([writer] { writer->Write(); });
    }
  }
  return RunFor(flags.seconds, steps, device, &clock);
}

nlohmann::json MeasureReadLatency(const Flags& flags) {
  const ScratchDirectory directory(flags.directory);
  CreateFileToRead(directory.File("read.sst"));
  RunClock clock;
  ThrottledFileSystemImpl device(rocksdb::FileSystem::Default(), SpecFrom(flags), &clock);
  Writer writer(&device, directory.File("write.sst"));
  Reader reader(&device, directory.File("read.sst"), 1);
  Histogram waits;
  const auto timed_read = [&] {
    const RunClock::Nanos begin = clock.Now();
    reader.Read();
    if (clock.running()) {  // the last read ends when the clock is closed
      waits.Add(static_cast<uint64_t>(clock.Now() - begin));
    }
  };
  nlohmann::json result = RunFor(flags.seconds, {[&writer] { writer.Write(); }, timed_read}, device, &clock);
  const Histogram::Snapshot snapshot = waits.TakeSnapshot();
  result["reads"] = snapshot.count();
  result["wait_us_p50"] = static_cast<double>(snapshot.Percentile(50)) * 1e-3;
  result["wait_us_p99"] = static_cast<double>(snapshot.Percentile(99)) * 1e-3;
  result["wait_us_max"] = static_cast<double>(snapshot.Percentile(100)) * 1e-3;
  return result;
}

double SecondsOf(uint64_t operations, const Step& step) {
  const SteadyClock::time_point started = SteadyClock::now();
  for (uint64_t i = 0; i < operations; ++i) {
    step();
  }
  return std::chrono::duration<double>(SteadyClock::now() - started).count();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Times blocks with and without the wrapper in pairs, so that a disturbance of the machine affects both sides
// of a pair. The side that comes first alternates.
nlohmann::json ComparePairs(const Flags& flags, const std::function<double(bool wrapped)>& seconds_of_block) {
  std::vector<double> base_ns;
  std::vector<double> wrapped_ns;
  std::vector<double> ratios;
  for (uint64_t pair = 0; pair < flags.pairs; ++pair) {
    const bool wrapped_first = pair % 2 == 1;
    const double first_s = seconds_of_block(wrapped_first);
    const double second_s = seconds_of_block(!wrapped_first);
    const double base_s = wrapped_first ? second_s : first_s;
    const double wrapped_s = wrapped_first ? first_s : second_s;
    base_ns.push_back(base_s * 1e9 / static_cast<double>(flags.operations));
    wrapped_ns.push_back(wrapped_s * 1e9 / static_cast<double>(flags.operations));
    ratios.push_back(wrapped_s / base_s);
  }
  return {{"base_ns_median", Median(base_ns)},
          {"wrapped_ns_median", Median(wrapped_ns)},
          {"ratio_median", Median(ratios)},
          {"ratios", ratios}};
}

nlohmann::json MeasureWrapperCost(const Flags& flags) {
  const ScratchDirectory directory(flags.directory);
  CreateFileToRead(directory.File("read.sst"));
  RunClock clock;
  clock.Start();
  const std::shared_ptr<rocksdb::FileSystem> base = rocksdb::FileSystem::Default();
  ThrottledFileSystemImpl device(base, DeviceSpec(), &clock);
  const auto file_system = [&](bool wrapped) { return wrapped ? &device : base.get(); };

  const auto read_block = [&](bool wrapped) {
    Reader reader(file_system(wrapped), directory.File("read.sst"), 1);
    return SecondsOf(flags.operations, [&reader] { reader.Read(); });
  };
  const std::string data(kReadBytes, 'x');
  const auto append_block = [&](bool wrapped) {
    const FilePointer file = NewFile(file_system(wrapped), directory.File("append.sst"));
    return SecondsOf(flags.operations, [&] { Append(file, data); });
  };
  read_block(false);  // brings the file into the page cache
  return {{"pairs", flags.pairs},
          {"operations_per_block", flags.operations},
          {"reads", ComparePairs(flags, read_block)},
          {"appends", ComparePairs(flags, append_block)}};
}

nlohmann::json Measure(const Flags& flags) {
  if (flags.mode == "read" || flags.mode == "write" || flags.mode == "mixed") {
    return MeasureThroughput(flags);
  }
  if (flags.mode == "reader-beside-writer") {
    return MeasureReadLatency(flags);
  }
  if (flags.mode == "wrapper-cost") {
    return MeasureWrapperCost(flags);
  }
  throw std::invalid_argument("--mode: use read, write, mixed, reader-beside-writer or wrapper-cost");
}

}  // namespace
}  // namespace rocktune

int main(int argc, char** argv) {
  try {
    const rocktune::Flags flags = rocktune::ParseFlags(argc, argv);
    nlohmann::json result = rocktune::Measure(flags);
    result["mode"] = flags.mode;
    result["bandwidth_bytes_s"] = flags.bandwidth_mb_s * rocktune::kMebibyte;
    result["iops"] = flags.iops;
    std::cout << result.dump(2) << "\n";
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "device_bench: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
