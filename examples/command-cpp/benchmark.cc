// A benchmark that rocktune can tune: it opens RocksDB with the OPTIONS file that it is given, puts and gets
// for some seconds, and prints its figures as the last line, in JSON.
//
//   g++ -std=c++20 -O2 benchmark.cc -o benchmark -lrocksdb -lpthread
//   ./benchmark OPTIONS_FILE DATA_DIRECTORY SECONDS SEED

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kKeys = 200'000;
constexpr std::size_t kValueBytes = 400;
constexpr double kReadShare = 0.5;

void Require(const rocksdb::Status& status, const std::string& what) {
  if (!status.ok()) {
    std::cerr << what << ": " << status.ToString() << "\n";
    std::exit(1);
  }
}

rocksdb::Options LoadOptions(const std::string& options_file) {
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  Require(rocksdb::LoadOptionsFromFile(rocksdb::ConfigOptions(), options_file, &db_options, &families),
          options_file);
  rocksdb::Options options(db_options, families.front().options);
  options.create_if_missing = true;
  // What an OPTIONS file cannot hold is set here: a comparator, a merge operator, listeners.
  return options;
}

// DB::Open gives out a raw pointer in older versions, a unique_ptr in newer ones.
template <typename Database>
rocksdb::Status Open(const rocksdb::Options& options, const std::string& directory,
                     std::unique_ptr<Database>* database) {
  if constexpr (requires { Database::Open(options, directory, database); }) {
    return Database::Open(options, directory, database);
  } else {
    Database* opened = nullptr;
    rocksdb::Status status = Database::Open(options, directory, &opened);
    database->reset(opened);
    return status;
  }
}

std::string Key(std::uint64_t number) {
  std::string digits = std::to_string(number);
  return "key" + std::string(12 - digits.size(), '0') + digits;
}

double MicrosecondsAtPercentile(std::vector<float>* latencies_us, double percentile) {
  const auto rank =
      static_cast<std::size_t>(percentile / 100 * static_cast<double>(latencies_us->size() - 1));
  const auto nth = latencies_us->begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(latencies_us->begin(), nth, latencies_us->end());
  return *nth;
}

void Run(rocksdb::DB* database, double seconds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::uint64_t> keys(0, kKeys - 1);
  std::bernoulli_distribution reads(kReadShare);
  std::string value(kValueBytes, 'v');
  std::vector<float> read_latencies_us;
  std::uint64_t operations = 0;
  const auto begin = Clock::now();
  const auto end =
      begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (auto now = begin; now < end || read_latencies_us.empty(); ++operations) {
    const std::string key = Key(keys(random));
    if (reads(random)) {
      const rocksdb::Status status = database->Get(rocksdb::ReadOptions(), key, &value);
      Require(status.IsNotFound() ? rocksdb::Status::OK() : status, "get");
      const auto after = Clock::now();
      read_latencies_us.push_back(std::chrono::duration<float, std::micro>(after - now).count());
      now = after;
    } else {
      value.assign(kValueBytes, static_cast<char>('a' + random() % 26));
      Require(database->Put(rocksdb::WriteOptions(), key, value), "put");
      now = Clock::now();
    }
  }
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
  std::cout << "{\"throughput_ops_s\": " << static_cast<double>(operations) / elapsed_s
            << ", \"read_latency_us_p99\": " << MicrosecondsAtPercentile(&read_latencies_us, 99) << "}\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: " << argv[0] << " OPTIONS_FILE DATA_DIRECTORY SECONDS SEED\n";
    return 2;
  }
  std::unique_ptr<rocksdb::DB> database;
  Require(Open(LoadOptions(argv[1]), argv[2], &database), "open");
  Run(database.get(), std::stod(argv[3]), std::stoull(argv[4]));
  Require(database->Close(), "close");
  return 0;
}
