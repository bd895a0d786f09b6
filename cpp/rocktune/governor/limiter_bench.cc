// Measures the cost of RateLimiter::Request when the caller need not wait. Prints one JSON document: for each
// limiter the nanoseconds per call in each of --repeats (default 20) blocks of a million calls. The blocks of
// the limiters alternate.

#include <rocksdb/listener.h>
#include <rocksdb/rate_limiter.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rocktune/governor/governed_rate_limiter.h"
#include "rocktune/util/thread_role.h"

namespace rocktune {
namespace {

constexpr int kCalls = 1'000'000;
constexpr int64_t kBytes = 4096;
constexpr int64_t kUnlimited = int64_t{1} << 50;  // a rate so high that nothing waits

double NanosPerCall(rocksdb::RateLimiter* limiter) {
  const auto begin = std::chrono::steady_clock::now();
  for (int call = 0; call < kCalls; ++call) {
    limiter->Request(kBytes, rocksdb::Env::IO_LOW, nullptr, rocksdb::RateLimiter::OpType::kWrite);
  }
  const std::chrono::duration<double, std::nano> nanos = std::chrono::steady_clock::now() - begin;
  return nanos.count() / kCalls;
}

nlohmann::json Measure(int repeats) {
  const std::unique_ptr<rocksdb::RateLimiter> rocksdbs(
      rocksdb::NewGenericRateLimiter(kUnlimited, 100'000, 10, rocksdb::RateLimiter::Mode::kAllIo));
  GovernedRateLimiter governed(kUnlimited, rocksdb::SystemClock::Default());
  const std::shared_ptr<rocksdb::EventListener> listener = NewThreadRoleListener();
  std::map<std::string, std::vector<double>> nanos;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    nanos["rocksdbs"].push_back(NanosPerCall(rocksdbs.get()));
    nanos["governed"].push_back(NanosPerCall(&governed));
    listener->OnSubcompactionBegin(rocksdb::SubcompactionJobInfo());
    governed.SetCompactionBytesPerSecond(kUnlimited);
    nanos["governed, of a compaction under a limit"].push_back(NanosPerCall(&governed));
    governed.SetCompactionBytesPerSecond(0);
    listener->OnSubcompactionCompleted(rocksdb::SubcompactionJobInfo());
  }
  return nanos;
}

}  // namespace
}  // namespace rocktune

int main(int argc, char** argv) {
  const int repeats = argc == 3 && std::string(argv[1]) == "--repeats" ? std::atoi(argv[2]) : 20;
  if (repeats < 1 || (argc != 1 && argc != 3)) {
    std::cerr << "usage: limiter_bench [--repeats N]\n";
    return EXIT_FAILURE;
  }
  std::cout << rocktune::Measure(repeats).dump(2) << "\n";
  return EXIT_SUCCESS;
}
